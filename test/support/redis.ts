import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.js'
import { programs } from './needs.js'

/** A redis-server with a folder of its own. */
export interface RedisServer {
  port: number
  url: string
  /** Where it keeps its data. */
  folder: string
  /** SIGKILL. */
  kill(): Promise<void>
  /** Such as SIGSTOP, and SIGCONT to go on. */
  signal(name: NodeJS.Signals): void
  /** Starts it again on the same port and folder. */
  restart(): Promise<void>
  /** Ends it and removes its folder. */
  stop(): Promise<void>
}

/** Starts redis-server, and waits until it prints `ready`. */
export async function spawnRedis(args: string[], ready: string): Promise<ChildProcess> {
  const child = spawn(programs.redis.path, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let log = ''
  for await (const piece of child.stdout.iterator({ destroyOnReturn: false })) {
    log += String(piece)
    if (log.includes(ready)) {
      child.stdout.resume()
      return child
    }
  }
  throw new Error(`redis-server did not start: ${log}`)
}

/**
 * Starts a server on a free port of the loopback interface; `config` are its options, each a name and its words.
 * Default: `appendonly yes`, no snapshots.
 * @example const server = await startRedis({ appendfsync: ['always'] })
 */
export async function startRedis(config: Record<string, string[]> = {}): Promise<RedisServer> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-redis-'))
  const options = {
    bind: ['127.0.0.1'],
    port: [String(port)],
    dir: [folder],
    appendonly: ['yes'],
    save: [''],
    ...config,
  }
  const args = Object.entries(options).flatMap(([name, words]) => [`--${name}`, ...words])
  let child: ChildProcess

  const start = async (): Promise<void> => {
    child = await spawnRedis(args, 'Ready to accept connections')
  }
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  await start()
  return {
    port,
    folder,
    url: `redis://127.0.0.1:${port}`,
    kill,
    signal: (name) => void child.kill(name),
    restart: start,
    async stop() {
      await kill()
      // A process of its own that rewrites the log may outlive it for a moment.
      await rm(folder, { recursive: true, maxRetries: 5 })
    },
  }
}

import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { catalogues } from './catalogues.js'
import { runtime, runtimePath } from './runtime.js'

/** The reference server as a process of its own. */
export interface Server {
  url: string
  /** A gateway key of the administrator. */
  key: string
  process: ChildProcess
  /** Everything that it printed so far. */
  output(): string
  /** Ends it by SIGTERM. @returns its exit code */
  stop(): Promise<number | null>
}

const ownScript = fileURLToPath(new URL(`../../examples/server/dist/${runtime}.js`, import.meta.url))

/** The first gateway key of servers of tests. */
export const KEY = 'gw-end-to-end-test-key-0123456789'

/**
 * Starts the built reference server on a free port, with storage in memory and the variables of `env`. An empty variable counts as unset: with
 * `OPENAI_MODELS: ''`, the upstream is asked for its models.
 * @param cwd the folder that it runs in; default that of the tests
 * @param script the built program; default that of this clone
 */
export async function startServer(
  env: Record<string, string> = {},
  { cwd, script = ownScript }: { cwd?: string; script?: string } = {},
): Promise<Server> {
  const child = spawn(runtimePath(), [script], {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      PORT: '0',
      STORAGE: 'memory',
      BOOTSTRAP_GATEWAY_KEY: KEY,
      ADMIN_PASSWORD: 'the password of the tests',
      // Hundreds of servers hash it.
      PASSWORD_COST: '8',
      BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
      OPENAI_MODELS: catalogues.openai.join(),
      ANTHROPIC_MODELS: catalogues.anthropic.join(),
      GEMINI_MODELS: catalogues.google.join(),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
  })
  let output = ''
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const url = await new Promise<string>((resolve, reject) => {
    const read = (data: Buffer): void => {
      output += data.toString()
      const found = /listening on (http:\/\/\S+)/.exec(output)
      if (found) resolve(found[1]!)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    void exited.then((code) => reject(new Error(`The server ended with code ${code}:\n${output}`)))
  })
  return {
    url,
    key: env['BOOTSTRAP_GATEWAY_KEY'] ?? KEY,
    process: child,
    output: () => output,
    stop() {
      child.kill('SIGTERM')
      return exited
    },
  }
}

/** Whether somebody listens; a connection that is taken is closed again. */
export async function listens(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

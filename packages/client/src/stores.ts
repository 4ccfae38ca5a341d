import type { SessionStore } from './session.js'
import type { AuthSession } from './types.js'

/** A store that lasts as long as the client. */
export function memoryStore(): SessionStore {
  let kept: AuthSession | null = null
  return { get: () => kept, set: (session) => void (kept = session) }
}

/** The parts of IndexedDB that are used. */
interface Asked<T> {
  result: T
  error: unknown
  addEventListener(type: 'success' | 'error' | 'upgradeneeded', listener: () => void): void
}
interface Objects {
  get(key: string): Asked<AuthSession | null | undefined>
  put(value: AuthSession | null, key: string): Asked<unknown>
}
interface Database {
  createObjectStore(name: string): unknown
  transaction(name: string, mode: 'readonly' | 'readwrite'): { objectStore(name: string): Objects }
  close(): void
}

const answerOf = <T>(asked: Asked<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    asked.addEventListener('success', () => resolve(asked.result))
    asked.addEventListener('error', () => reject(asked.error))
  })

/**
 * A store in the IndexedDB of a browser, for pages that have no session cookie: all tabs of an origin share it, and it survives them. It has one session
 * of each platform. Unlike
 * `localStorage`, it has in each tab at once what another has written. Scripts of the page can read the tokens.
 * @param name of the database; default `turnpike`
 * @example const client = createClient({ baseUrl: 'https://ai.example', session: indexedDBStore() })
 */
export function indexedDBStore(name = 'turnpike'): SessionStore {
  const { indexedDB } = globalThis as unknown as { indexedDB: { open(name: string): Asked<Database> } }
  const open = (): Promise<Database> => {
    const asked = indexedDB.open(name)
    asked.addEventListener('upgradeneeded', () => asked.result.createObjectStore('session'))
    return answerOf(asked)
  }
  // Opened each time: the browser may close it whenever it likes, such as when its data are deleted.
  const use = async <T>(mode: 'readonly' | 'readwrite', ask: (objects: Objects) => Asked<T>): Promise<T> => {
    const database = await open()
    try {
      return await answerOf(ask(database.transaction('session', mode).objectStore('session')))
    } finally {
      database.close()
    }
  }
  return {
    get: async (platform) => (await use('readonly', (objects) => objects.get(platform))) ?? null,
    set: async (session, platform) => void (await use('readwrite', (objects) => objects.put(session, platform))),
  }
}

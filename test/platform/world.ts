import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { FakeAnswer, FakeUpstream } from '@turnpike/providers/testing'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { endEngines, engines } from '../support/engines.js'
import { runtimePath } from '../support/runtime.js'
import { sample } from '../support/scope.js'

/** An answer: its status, body and headers. */
export interface Reply<T = unknown> {
  status: number
  body: T
  headers: Headers
}

export interface SignedIn {
  id: string
  email: string
  access: string
  refresh: string
  /** `Cookie` header; undefined where it was not asked for. */
  cookie: string | undefined
}

/** The answer to a sign-in or a refresh. */
export interface AuthSession {
  access_token: string
  refresh_token: string
  token_type: string
  expires_in: number
  expires_at: number
  user: { id: string; email: string; metadata: object }
}

/** A gateway key; `key` in the answer that makes it. */
export interface Key {
  id: string
  key?: string
  name: string
  rate_limit: number
  revoked: boolean
}

/** A process that serves a gateway and a platform (server.mjs), and what tests ask of it. */
export interface World {
  url: string
  pid: number
  upstream: FakeUpstream
  /** Answers in place of the fake upstream, until it is unset. */
  fault: (() => FakeAnswer) | undefined
  /** Calls a method of server.mjs. */
  call<T = unknown>(method: string, ...args: unknown[]): Promise<T>
  /** Sets its clock ahead. */
  advance(ms: number): Promise<void>
  /** Sends a request; a body that is neither a string nor a form is sent as JSON. */
  ask<T = never>(method: string, path: string, options?: AskOptions): Promise<Reply<T>>
  /** Makes a user with {@link PASSWORD}. */
  person(role?: 'user' | 'developer' | 'admin'): Promise<{ id: string; email: string }>
  signIn(email: string, options?: { cookie?: boolean; headers?: Record<string, string> }): Promise<SignedIn>
  /** Makes a gateway key. */
  newKey(as: SignedIn, body?: object): Promise<Reply<Key>>
  /** Makes a user and signs in. */
  signedIn(role?: 'user' | 'developer' | 'admin', cookie?: boolean): Promise<SignedIn>
  kill(): Promise<void>
}

export interface AskOptions {
  as?: SignedIn | string | undefined
  body?: unknown
  headers?: Record<string, string>
}

export const PASSWORD = 'correct horse battery staple'

/** How many there are, in all processes. */
let people = 0

/** A time and an id as answers have them, and an id that nobody has. */
export const aTime: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
export const uuid: unknown = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
export const unknownId = '00000000-0000-7000-8000-00000000ffff'

/** The options of a request by cookie. */
export const withCookie = (cookie: string | undefined, headers: Record<string, string> = {}) => ({
  headers: { cookie: cookie!, ...headers },
})

/** A chat request. */
export const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }

const script = fileURLToPath(new URL('server.mjs', import.meta.url))

/** Starts a process on a store. */
export async function startWorld(storage: string, env: Record<string, string> = {}): Promise<World> {
  const upstream = fakeOpenAI({ apiKey: 'sk-upstream', override: () => world.fault?.() })
  const fake = await upstream.listen()
  const child = spawn(runtimePath(), [script, storage], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], OPENAI_BASE_URL: `${fake.url}/v1`, ...env },
  })
  const closed = once(child, 'close')
  const lines = createInterface({ input: child.stdout })
  const waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>()
  let calls = 0
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      const told = JSON.parse(line) as string | [number, never, string?]
      if (typeof told === 'string') return resolve(told)
      const [id, result, error] = told
      const { resolve: answer, reject: fail } = waiting.get(id)!
      waiting.delete(id)
      if (error === undefined) answer(result)
      else fail(new Error(error))
    })
    void closed.then(() => reject(new Error('The server ended')))
  })
  void closed.then(() => {
    for (const { reject } of waiting.values()) reject(new Error('The server ended'))
  })

  const call = <T>(method: string, ...args: unknown[]): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (child.exitCode !== null || child.signalCode !== null) return reject(new Error('The server ended'))
      const id = ++calls
      waiting.set(id, { resolve, reject })
      child.stdin.write(`${JSON.stringify([id, method, ...args])}\n`)
    })

  const ask: World['ask'] = async <T>(method: string, path: string, { as, body, headers }: AskOptions = {}) => {
    const token = typeof as === 'string' ? as : as?.access
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && !(body instanceof FormData) && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && {
        body: typeof body === 'string' || body instanceof FormData ? body : JSON.stringify(body),
      }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
    return {
      status: response.status,
      body: (isJson && text !== '' ? JSON.parse(text) : text) as T,
      headers: response.headers,
    }
  }

  const person: World['person'] = async (role = 'user') => {
    const email = `person-${process.pid}-${++people}@example.org`
    const { id } = await call<{ id: string }>('createUser', { email, password: PASSWORD, role })
    return { id, email }
  }

  const signIn: World['signIn'] = async (email, { cookie = false, headers = {} } = {}) => {
    const {
      status,
      body,
      headers: answered,
    } = await ask<Record<string, never>>('POST', '/api/auth', {
      body: { email, password: PASSWORD, ...(cookie && { cookie }) },
      headers: { ...(cookie && { 'sec-fetch-site': 'same-origin' }), ...headers },
    })
    if (status !== 200) throw new Error(`Sign-in answered ${status} ${JSON.stringify(body)}`)
    const { access_token, refresh_token, user } = body as unknown as {
      access_token: string
      refresh_token: string
      user: { id: string }
    }
    const set = answered.getSetCookie()[0]?.split(';', 1)[0]
    return { id: user.id, email, access: access_token, refresh: refresh_token, cookie: set }
  }

  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await closed
    await fake.close()
  }

  const world: World = {
    url,
    fault: undefined,
    pid: child.pid!,
    upstream,
    call,
    advance: (ms) => call('advance', ms),
    ask,
    person,
    signIn,
    newKey: (as, body = { name: 'my key' }) => ask<Key>('POST', '/api/keys', { as, body }),
    signedIn: async (role, cookie = false) => signIn((await person(role)).email, { cookie }),
    kill,
  }
  return world
}

/** The stores that all is tried on. */
export const stores: { name: string; missing: boolean; create(): Promise<string> }[] = [
  { name: 'memory', missing: false, create: async () => 'memory' },
  ...engines.filter(({ name }) => ['fs', 'redis', 'postgres'].includes(name)),
]

/** A kind of stores of a process. */
export interface WorldStores {
  name: string
  missing: boolean
  /** Makes empty ones. @returns the value of `STORAGE`, and further environment of server.mjs */
  create(): Promise<{ storage: string; env: Record<string, string> }>
}

const withoutFiles: WorldStores[] = stores.map(({ create, ...store }) => ({
  ...store,
  create: async () => ({ storage: await create(), env: {} }),
}))

/**
 * Tests of one process: on the first kind of stores or, in `npm run test:all`, on each.
 * @param env further environment of server.mjs
 * @param on default memory, and {@link stores}
 */
export function worldSuite(
  name: string,
  suite: (world: () => World) => void,
  env: Record<string, string> = {},
  on: WorldStores[] = withoutFiles,
): void {
  describe.each([...sample(on)])(`${name}, on $name`, ({ missing, create }) => {
    describe.skipIf(missing)('', () => {
      let world: World
      beforeAll(async () => {
        const made = await create()
        world = await startWorld(made.storage, { RATE_LIMITER: 'memory', ...made.env, ...env })
      })
      afterAll(async () => {
        await world.kill()
        await endEngines()
      })
      suite(() => world)
    })
  })
}

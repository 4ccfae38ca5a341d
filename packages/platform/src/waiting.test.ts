import type { KV } from '@turnpike/core'
import { createUser, memoryKV } from '@turnpike/core'
import { expect, it } from 'vitest'
import { createPlatform } from './platform.js'

/** A user in a store that others keep busy, and who is signed in as long as `isSignedIn`. */
async function setUp() {
  const state = { isBusy: false, isSignedIn: true, tries: 0 }
  const memory = await memoryKV()
  const kv: KV = {
    ...memory,
    async commit(commit) {
      if (!state.isBusy) return memory.commit(commit)
      state.tries++
      return false
    },
  }
  const user = (await createUser(memory, { email: 'ada@example.org', role: 'developer' }))!
  const authenticate = () => (state.isSignedIn ? { userId: user.id, via: 'custom' as const } : null)
  const platform = createPlatform({ kv, identity: { authenticate } })
  const send = async (method: string, path: string, body: object): Promise<Response> =>
    platform.fetch(
      new Request(`https://app.example/api${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    )
  return { state, send }
}

const token = () => ({ name: 'worker', scopes: ['tasks:write'] })
const share = (email: string) => ({ email, role: 'editor' })
it.each([
  ['a token', 'POST', () => '/tokens', token],
  ['a key', 'POST', () => '/keys', () => ({ name: 'laptop' })],
  ['a share', 'PUT', (id: string) => `/projects/${id}/members`, share],
])(
  'threat 202: %s that waits for a busy store is not made once its user is signed out',
  async (_, method, path, of) => {
    const { state, send } = await setUp()
    const { id } = (await (await send('POST', '/projects', { name: 'House' })).json()) as { id: string }
    for (const [isSignedIn, status] of [
      [true, 200],
      [false, 401],
    ] as const) {
      Object.assign(state, { isBusy: true, tries: 0 })
      const waiting = send(method, path(id), of(`${status}@example.org`))
      await expect.poll(() => state.tries).toBeGreaterThan(1)
      Object.assign(state, { isBusy: false, isSignedIn })
      expect((await waiting).status).toBe(status)
    }
  },
)

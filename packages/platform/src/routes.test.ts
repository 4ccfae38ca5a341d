import { createUser, memoryKV } from '@turnpike/core'
import { expect, it } from 'vitest'
import { passwordAuth } from './identity/password-auth.js'
import { createPlatform } from './platform.js'

it('has nothing of sign-ins, passwords and invitations where users sign in elsewhere', async () => {
  const kv = await memoryKV()
  const pathsOf = (identity: Parameters<typeof createPlatform>[0]['identity']): string[] =>
    createPlatform({ kv, identity }).routes.map(({ method, path }) => `${method} ${path}`)
  const elsewhere = pathsOf({ authenticate: () => null })
  const own = pathsOf(passwordAuth({ kv }))
  expect(elsewhere.filter((path) => /auth|password|invitation|sign-in|well-known/.test(path))).toEqual([])
  expect(own.filter((path) => !elsewhere.includes(path))).toHaveLength(24)
})

it.each([
  [{ mail: { send: async () => undefined } }, 'the option "mail" needs "baseUrl"'],
  [{ signUp: 'open' as const, baseUrl: 'https://ai.example' }, 'the option "signUp": "open" needs "mail"'],
])('refuses %o', async (options, why) => {
  const kv = await memoryKV()
  expect(() => createPlatform({ kv, identity: passwordAuth({ kv }), ...options })).toThrow(why)
})

it('threat 214: a body has 20,000 values at most', async () => {
  const kv = await memoryKV()
  const { id: userId } = await createUser(kv, { email: 'ada@example.org' })
  const platform = createPlatform({ kv, identity: { authenticate: () => ({ userId, via: 'custom' }) } })
  const answer = async (values: number) => {
    const body = JSON.stringify({ name: Array.from({ length: values }, () => 1) })
    const headers = { 'content-type': 'application/json' }
    const request = new Request('http://x.example/api/projects', { method: 'POST', headers, body })
    return (await (await platform.fetch(request)).json()) as object
  }
  expect(await answer(19_998)).toMatchObject({ error: expect.stringContaining('name') as string })
  expect(await answer(20_000)).toMatchObject({ error: expect.stringContaining('more than 20000 values') as string })
})

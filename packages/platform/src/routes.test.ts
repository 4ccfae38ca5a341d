import { memoryKV } from '@turnpike/core'
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

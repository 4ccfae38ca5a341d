import type { Commit } from '@turnpike/core'
import { createUser, memoryKV } from '@turnpike/core'
import { expect, it } from 'vitest'
import { verifyPlatform } from './verify.js'

it.each<[damage: string, commit: Commit, problems: string[]]>([
  ['no damage', {}, []],
  [
    'a sign-in that is missing from the list of its user',
    { del: [['user-sign-ins', 'ada', 'first']] },
    ['Sign-in first is not found by its user'],
  ],
  [
    'a missing sign-in',
    { del: [['sign-in', 'first']] },
    [
      'User ada is led to sign-in first, which is not theirs',
      'A cookie leads to sign-in first, whose cookie it is not',
    ],
  ],
  [
    'a sign-in without the entry of its cookie',
    { del: [['session-cookie', 'c']] },
    ['Sign-in first is not found by its cookie'],
  ],
  [
    'a cookie of before, which should be gone',
    { set: [{ key: ['session-cookie', 'old'], value: 'first' }] },
    ['A cookie leads to sign-in first, whose cookie it is not'],
  ],
])('verifyPlatform finds %s', async (_, commit, problems) => {
  const kv = await memoryKV()
  for (const id of ['ada', 'bob']) await createUser(kv, { id })
  await kv.commit({
    set: [
      { key: ['sign-in', 'first'], value: { id: 'first', user_id: 'ada', cookie: 'c' } },
      { key: ['user-sign-ins', 'ada', 'first'], value: true },
      { key: ['session-cookie', 'c'], value: 'first' },
      { key: ['sign-in', 'second'], value: { id: 'second', user_id: 'bob' } },
      { key: ['user-sign-ins', 'bob', 'second'], value: true },
    ],
  })
  await kv.commit(commit)
  const found: string[] = []
  for await (const problem of verifyPlatform(kv)) found.push(problem)
  expect(found).toEqual(problems)
})

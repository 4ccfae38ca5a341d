import type { KV } from '@turnpike/core'
import { createUser, memoryKV } from '@turnpike/core'
import { userEntry } from '@turnpike/core/internal'
import { describe, expect, it } from 'vitest'
import { verifyPlatform } from '../verify/verify.js'
import { signIns } from './sign-ins.js'

const limits = { idleDays: 7, absoluteDays: 30, reuseS: 10, perUser: 1 }
let time = Date.now()
const now = (): number => time
/** Nothing is logged. */
const none = () => Promise.resolve([])

/** Sign-ins of Ada on a store where `meanwhile` happens once, right before the next commit. */
async function setUp() {
  const kv = await memoryKV()
  await createUser(kv, { id: 'ada' })
  let before: (() => Promise<unknown>) | undefined
  const commit: KV['commit'] = async (...given) => {
    const run = before
    before = undefined
    await run?.()
    return kv.commit(...given)
  }
  const store = signIns({ ...kv, commit }, limits, now)
  const user = (await userEntry(kv, 'ada'))!
  const create = async () => (await store.create({ user, proof: user, withCookie: true }))!
  return { kv, store, create, meanwhile: (run: () => Promise<unknown>) => void (before = run) }
}

const problemsOf = async (kv: KV): Promise<string[]> => {
  const problems: string[] = []
  for await (const problem of verifyPlatform(kv)) problems.push(problem)
  return problems
}

describe('a sign-in that gets another cookie while it ends', () => {
  it.each<[how: string, act: (own: Awaited<ReturnType<typeof setUp>>, id: string) => Promise<unknown>]>([
    ['by its user', async ({ store }, id) => store.end([(await store.find(id))!.value])],
    ['because there are too many', ({ create }) => create()],
    ['because a refresh token is used again', ({ store }, id) => store.refresh(id, 0, none)],
  ])('ends with the new one: %s', async (_, act) => {
    const own = await setUp()
    const { id } = (await own.create()).signIn
    for (const counter of [0, 1]) await own.store.refresh(id, counter, none)
    time += 11_000
    let renewed: string | null = null
    own.meanwhile(async () => (renewed = await own.store.renewCookie(id, {})))
    await act(own, id)
    expect(renewed).not.toBeNull()
    expect(await own.store.byCookie(renewed!)).toBeNull()
    expect(await own.store.find(id)).toBeNull()
    expect(await problemsOf(own.kv)).toEqual([])
  })
})

import { createSession, createUser, getSession } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { COST, OWNER, withKey } from '../../../test/support/gateway.js'

describe('a session', () => {
  it('sums requests of its own user while it is live', async () => {
    const at = await withKey({})
    await createUser(at.kv, { id: 'other' })
    const [own, foreign, over] = [
      await createSession(at.kv, OWNER, {}, at.clock.now),
      await createSession(at.kv, 'other', {}, at.clock.now),
      await createSession(at.kv, OWNER, { expiresAt: new Date(at.clock.now) }, at.clock.now),
    ]
    at.clock.now += 1_000
    const within = (id: string) => at.chat({}, { headers: { 'x-session-id': id } })
    await within(own.id)
    await within(own.id.toUpperCase())
    const ids = [foreign.id, over.id, '01900000-aaaa-7000-8000-0000000000ff', 'no-uuid']
    for (const id of ids) expect((await within(id)).status).toBe(200)
    expect(await getSession(at.kv, own.id)).toMatchObject({
      request_count: 2,
      prompt_tokens: 18,
      completion_tokens: 6,
      total_tokens: 24,
      cost_usd: (2 * COST) / 1e9,
      updated_at: '2026-01-02T00:00:01.000Z',
    })
    for (const { id } of [foreign, over])
      expect(await getSession(at.kv, id)).toMatchObject({ request_count: 0, cost_usd: 0 })
    // Tags are kept whatever they name.
    expect((await at.records()).map(({ session_id }) => session_id)).toEqual([
      '',
      ids[2],
      over.id,
      foreign.id,
      own.id,
      own.id,
    ])
    expect(await at.problems()).toEqual([])
  })
})

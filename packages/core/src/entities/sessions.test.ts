import { describe, expect, it } from 'vitest'
import { usageRecord } from '../../../../test/support/usage-record.js'
import { memoryKV } from '../kv/memory-kv.js'
import { usageLedger } from '../ledger/usage-ledger.js'
import { createSession, getSession, listSessions } from './sessions.js'

const START = Date.UTC(2026, 0, 2)

describe('a session', () => {
  it('starts with zero usage', async () => {
    const kv = await memoryKV()
    const session = await createSession(
      kv,
      'ada',
      { label: 'Night', metadata: { run: 7 }, expiresAt: new Date(START + 1_000) },
      START,
    )
    expect(session).toEqual({
      id: expect.any(String) as string,
      user_id: 'ada',
      label: 'Night',
      metadata: { run: 7 },
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      request_count: 0,
      cost_usd: 0,
      expires_at: '2026-01-02T00:00:01.000Z',
      created_at: '2026-01-02T00:00:00.000Z',
      updated_at: '2026-01-02T00:00:00.000Z',
    })
    expect(await getSession(kv, session.id)).toEqual(session)
    expect(await createSession(kv, 'ada')).toMatchObject({ label: null, metadata: null, expires_at: null })
    expect(await getSession(kv, 'none')).toBeNull()
  })

  it('sums the usage of its requests, which update it', async () => {
    const kv = await memoryKV()
    const ledger = usageLedger(kv)
    const [one, other] = [await createSession(kv, 'ada', {}, START), await createSession(kv, 'ada', {}, START)]
    const used = { session_id: one.id, in_session: true }
    await ledger.append(usageRecord({ ...used, timestamp: '2026-01-02T10:00:00.000Z' }))
    await ledger.append(usageRecord({ ...used, cost_nano_usd: null, timestamp: '2026-01-02T11:00:00.000Z' }))
    await ledger.append(usageRecord({ ...used, in_session: false, timestamp: '2026-01-02T12:00:00.000Z' }))
    const after = {
      ...one,
      prompt_tokens: 20,
      completion_tokens: 6,
      total_tokens: 26,
      request_count: 2,
      cost_usd: 0.000055,
      updated_at: '2026-01-02T11:00:00.000Z',
    }
    expect(await getSession(kv, one.id)).toEqual(after)
    expect(await getSession(kv, other.id)).toEqual(other)
    expect((await listSessions(kv, 'ada')).items).toEqual(expect.arrayContaining([after, other]))
  })

  it('is listed for its user, newest first, in pages', async () => {
    const kv = await memoryKV()
    const made: string[] = []
    for (let i = 0; i < 5; i++) made.push((await createSession(kv, 'ada', {}, START + i)).id)
    await createSession(kv, 'bob', {}, START)
    const seen: string[][] = []
    let after: string | undefined
    do {
      const page = await listSessions(kv, 'ada', { limit: 2, after })
      seen.push(page.items.map(({ id }) => id))
      after = page.next
    } while (after !== undefined)
    const [a, b, c, d, e] = made
    expect(seen).toEqual([[e, d], [c, b], [a]])
    expect(await listSessions(kv, 'nobody')).toEqual({ items: [] })
  })
})

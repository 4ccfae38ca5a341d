import { memoryKV } from '@turnpike/core'
import type { RequestLog } from '@turnpike/http'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { adminGateway } from '../../../../test/support/admin.js'
import { FailedRequests } from '../operations/admin/failed-requests.js'
import { MetricsResponse } from '../operations/admin/metrics.js'
import { RequestEvent } from './request-events.js'
import { endedHours, requestHistory } from './request-history.js'

const START = Date.UTC(2026, 0, 2)

/** A log record whose id has the time of its beginning, `i` milliseconds after {@link START}. */
const log = (i: number, fields: Partial<RequestLog> = {}): RequestLog => {
  const digits = (START + i).toString(16).padStart(12, '0')
  return {
    request_id: `${digits.slice(0, 8)}-${digits.slice(8)}-7abc-8000-000000000000`,
    method: 'POST',
    route: '/v1/chat/completions',
    status: 404,
    duration_ms: 5,
    ip: '192.0.2.1',
    user_id: 'ada',
    ...((fields.status ?? 404) >= 400 && { error_code: 'model_not_found' }),
    ...fields,
  }
}

async function historyGateway() {
  let time = START
  const now = () => time
  const kv = await memoryKV({ now })
  const at = await adminGateway({ kv, now })
  return { ...at, kv, later: (ms: number) => void (time += ms), history: () => requestHistory(kv, { now }) }
}

afterEach(() => vi.useRealTimers())

describe('the history of requests', () => {
  it('finds failed requests after a restart, newest first, in pages, before a time and by their id', async () => {
    const { read, ask, history } = await historyGateway()
    const before = history()
    before.onRequest(log(1))
    before.onRequest(log(2, { status: 200, outcome: 'complete' }))
    before.onRequest(log(3, { status: 200, outcome: 'truncated', failed_calls: 'x'.repeat(2_000) }))
    before.onRequest(log(4, { status: 200, outcome: 'client_abort' }))
    before.onRequest(log(5, { route: '/api/tasks' }))
    await before.flush()
    const ids = async (query: string) =>
      (await read(`/admin/failed-requests${query}`, FailedRequests)).data.map(({ request_id }) => request_id)
    const [one, three, four] = [1, 3, 4].map((i) => log(i).request_id)
    expect(await ids('')).toEqual([four, three, one])
    expect(await ids(`?limit=1&after=${four}`)).toEqual([three])
    expect(await ids(`?before=${new Date(START + 3).toISOString()}`)).toEqual([one])
    const found = await read(`/admin/failed-requests/${three!.toUpperCase()}`, RequestEvent)
    expect([found.user_id, found.failed_calls?.length]).toEqual(['ada', 1_000])
    expect((await ask(`/admin/failed-requests/${log(2).request_id}`)).status).toBe(404)
    expect((await ask('/admin/failed-requests/x')).status).toBe(404)
    expect((await ask('/admin/failed-requests?before=yesterday')).status).toBe(400)
    const { ended, series } = await read('/admin/metrics?hours=2', MetricsResponse)
    expect(ended).toEqual({
      requests: 4,
      refused: 1,
      failed: 1,
      left: 1,
      codes: { model_not_found: 1, truncated: 1, client_abort: 1 },
    })
    expect(series.map(({ ended }) => ended?.requests)).toEqual([undefined, 4])
  })

  it('keeps some of each user in an hour, counts all, and forgets them after seven days', async () => {
    const { kv, history, later, read } = await historyGateway()
    const { onRequest, flush } = history()
    for (let i = 0; i < 150; i++) onRequest(log(i))
    for (let i = 150; i < 300; i++) onRequest(log(i, { user_id: undefined! }))
    onRequest(log(300, { user_id: 'bob' }))
    await flush()
    const kept = async () => {
      const { items } = await kv.list<RequestEvent>(['failed-request'], { limit: 500 })
      return items.map(({ value }) => value.user_id)
    }
    const users = await kept()
    expect(['ada', undefined, 'bob'].map((id) => users.filter((user) => user === id).length)).toEqual([100, 100, 1])
    expect((await read('/admin/metrics?hours=1', MetricsResponse)).ended?.refused).toBe(301)
    later(3_600_000)
    onRequest(log(3_600_000))
    await flush()
    expect(await kept()).toHaveLength(202)
  })

  it('threat 216: counts so many codes of errors in an hour, which upstreams choose, and the others as one', async () => {
    const { kv, history, later } = await historyGateway()
    const kept = history()
    for (let i = 0; i < 300; i++) kept.onRequest(log(i, { error_code: `code-${i % 250}` }))
    kept.onRequest(log(300, { error_code: 'x'.repeat(101) }))
    await kept.flush()
    const [hour] = await endedHours(kv, new Date(START))
    expect(Object.keys(hour!.fields).filter((name) => name.startsWith('code_'))).toHaveLength(201)
    expect([hour!.fields['code_code-0'], hour!.fields['code_other']]).toEqual([2, 51])
    later(3_600_000)
    kept.onRequest(log(3_600_000, { error_code: 'code-249' }))
    await kept.flush()
    expect((await endedHours(kv, new Date(START)))[1]!.fields).toMatchObject({ 'code_code-249': 1 })
  })

  it('writes by itself once a second, and says where it cannot', async () => {
    vi.useFakeTimers()
    const commit = vi.fn().mockResolvedValueOnce(true).mockRejectedValue(new Error('away'))
    const onError = vi.fn()
    const { onRequest } = requestHistory({ commit } as never, { onError })
    onRequest(log(1))
    onRequest(log(2))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(commit).toHaveBeenCalledTimes(1)
    onRequest(log(3))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(onError).toHaveBeenCalledTimes(1)
  })
})

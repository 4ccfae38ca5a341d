import { expect, it } from 'vitest'
import type { Owner } from './requests.js'
import { newOwner } from './requests.js'
import { made } from './work.js'
import type { World } from './world.js'
import { chat, worldSuite } from './world.js'

interface Hours {
  requests: number[]
  total_tokens: number[]
  cost_usd: number[]
}
interface Report {
  from: string
  to: string
  total: { requests: number; total_tokens: number; cost_usd: number; unpriced: number }
  hours: Hours & { time: string[] }
  rows: { id: string; name: string | null; project_id?: string | null; requests: number; hours?: Hours }[]
  omitted: number
}

const HOUR_MS = 3_600_000

/** What a user used in a period, by its parts. */
worldSuite('usage of a period', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const report = async (as: Owner, query = ''): Promise<Report> =>
    made(await ask<Report>('GET', `/api/usage${query}`, { as }))
  const request = async ({ key }: Owner, headers: Record<string, string> = {}, more: object = {}): Promise<void> =>
    void made(await ask<object>('POST', '/v1/chat/completions', { as: key, body: { ...chat, ...more }, headers }))
  const rows = ({ rows }: Report) => rows.map(({ id, name, requests }) => [id, name, requests])

  it('is told by model, key, session, conversation, task and project, in all and by hour', async () => {
    let [ada, bob] = [await newOwner(world()), await newOwner(world())]
    const project = `/api/projects/${ada.projectId}`
    const { name } = made(await ask<{ name: string }>('GET', project, { as: ada }))
    const { title } = made(await ask<{ title: string }>('GET', `/api/tasks/${ada.taskId}`, { as: ada }))
    const { id: conversation } = made(await ask<{ id: string }>('GET', `${project}/conversation`, { as: ada }))
    const session = made(await ask<{ id: string }>('POST', '/api/sessions', { as: ada, body: { label: 'Nightly' } })).id
    await request(ada, { 'x-task-id': ada.taskId })
    await request(ada, { 'x-conversation-id': conversation, 'x-session-id': session })
    await request(bob)
    // Nobody else's task.
    await request(bob, { 'x-task-id': ada.taskId })
    await world().advance(HOUR_MS)
    // The access tokens are over.
    ada = { ...ada, ...(await world().signIn(ada.email)) }
    bob = { ...bob, ...(await world().signIn(bob.email)) }
    await request(ada, { 'x-project-id': ada.projectId })

    const all = await report(ada)
    expect(all.total).toMatchObject({ requests: 4, unpriced: 0 })
    // An owner comes with a request that names nothing.
    expect(all.hours.requests).toEqual([3, 1])
    expect(all.hours.time.map((time) => Date.parse(time) % HOUR_MS)).toEqual([0, 0])
    expect(Date.parse(all.to) - Date.parse(all.from)).toBe(168 * HOUR_MS)
    expect(all.rows).toMatchObject([{ name: null, requests: 4, hours: { requests: [3, 1] } }])
    expect(all.hours.cost_usd[0]! + all.hours.cost_usd[1]!).toBeCloseTo(all.total.cost_usd, 12)
    const by = (kind: string, as = ada) => report(as, `?by=${kind}`)
    expect(rows(await by('key'))).toEqual([[ada.keyId, 'k', 4]])
    expect(rows(await by('session'))).toEqual([[session, 'Nightly', 1]])
    expect(rows(await by('project'))).toEqual([[ada.projectId, name, 3]])
    expect(rows(await by('task'))).toEqual([[ada.taskId, title, 1]])
    expect(rows(await by('conversation'))).toEqual([[conversation, name, 1]])
    expect((await by('task')).rows[0]).toMatchObject({ project_id: ada.projectId, hours: { requests: [1, 0] } })
    expect(rows(await by('task', bob))).toEqual([])
    expect((await report(bob)).total.requests).toBe(3)

    // The hour before.
    const [first] = all.hours.time
    for (const kind of ['model', 'key']) {
      const early = await report(ada, `?by=${kind}&from=${first}&to=${first}`)
      expect([early.total.requests, early.hours.requests, early.rows[0]!.requests]).toEqual([3, [3], 3])
    }
    expect((await ask('DELETE', project, { as: ada })).status).toBe(204)
    expect(await by('task')).toMatchObject({ rows: [{ id: ada.taskId, name: null }] })
    expect(await by('conversation')).toMatchObject({ rows: [{ id: conversation, name: null, project_id: null }] })
    expect(rows(await by('project'))).toEqual([[ada.projectId, null, 3]])
    expect(await world().call('verify')).toEqual([])
  })

  it('has the hours of the dearest eight', async () => {
    const ada = await newOwner(world())
    const ids: string[] = []
    for (let i = 0; i < 10; i++) {
      const { id } = made(await ask<{ id: string }>('POST', '/api/sessions', { as: ada, body: { label: `${i}` } }))
      const content = 'word '.repeat(10 * (i + 1))
      await request(ada, { 'x-session-id': id }, { messages: [{ role: 'user', content }] })
      ids.push(id)
    }
    const { rows, omitted } = await report(ada, '?by=session')
    expect([rows.length, omitted, rows.filter(({ hours }) => hours).length]).toEqual([10, 0, 8])
    expect(rows.slice(0, 8).every(({ hours }) => hours)).toBe(true)
  })

  it.each([
    ['by=user', 'by'],
    ['from=2026-01-02&to=2026-01-01', 'from must be a time that is not after'],
    ['from=2026-01-01&to=2026-06-01', 'at most 2232 hours'],
  ])('is 400 for ?%s', async (query, words) => {
    const ada = await newOwner(world())
    const { status, body } = await ask<{ error: string }>('GET', `/api/usage?${query}`, { as: ada })
    expect([status, body.error]).toEqual([400, expect.stringContaining(words)])
  })
})

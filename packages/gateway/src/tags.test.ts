import { createUser } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { chunk, COST, OWNER, streamed, withKey } from '../../../test/support/gateway.js'
import { deleteTags, storeTags } from '../../../test/support/tags.js'

const MISSING = '01900000-aaaa-7000-8000-0000000000ff'

async function setUp(options: Parameters<typeof withKey>[1] = {}) {
  const at = await withKey({}, options)
  await createUser(at.kv, { id: 'other' })
  const tagged = async (headers: Record<string, string>, fields: object = {}) =>
    expect((await at.chat(fields, { headers })).status, JSON.stringify(headers)).toBe(200)
  const { ledger } = at.gateway
  const requests = async (of: 'project' | 'task' | 'conversation', id: string) => (await ledger.totals(of, id)).requests
  return {
    ...at,
    ledger,
    tagged,
    requests,
    own: await storeTags(at.kv, OWNER),
    foreign: await storeTags(at.kv, 'other'),
  }
}

describe('the spend of a project', () => {
  it('sums the requests of its user that name it, its tasks or its conversation', async () => {
    const { ledger, tagged, requests, own, foreign, records, problems } = await setUp()
    const rows: [headers: Record<string, string>, counts: string][] = [
      [{ 'x-project-id': own.project }, 'project'],
      [{ 'x-project-id': own.project.toUpperCase(), 'x-task-id': own.task }, 'project task'],
      [{ 'x-task-id': own.task }, 'project task'],
      [{ 'x-conversation-id': own.conversation }, 'project conversation'],
      [{ 'x-project-id': foreign.project, 'x-task-id': own.task }, 'task'],
      [{ 'x-project-id': MISSING, 'x-conversation-id': own.conversation }, 'conversation'],
      [{ 'x-project-id': own.project, 'x-task-id': foreign.task }, 'project'],
      [{ 'x-task-id': foreign.task, 'x-conversation-id': foreign.conversation }, ''],
      [{ 'x-task-id': MISSING }, ''],
      [{ 'x-project-id': 'no-uuid', 'x-task-id': own.task }, 'project task'],
      [{}, ''],
    ]
    for (const [headers] of rows) await tagged(headers)
    const count = (kind: string) => rows.filter(([, counts]) => counts.includes(kind)).length
    expect(await ledger.totals('project', own.project)).toEqual({
      requests: count('project'),
      unpriced: 0,
      prompt_tokens: 9 * count('project'),
      completion_tokens: 3 * count('project'),
      tokens: 12 * count('project'),
      cost_nano_usd: COST * count('project'),
    })
    expect(await requests('task', own.task)).toBe(count('task'))
    expect(await requests('conversation', own.conversation)).toBe(count('conversation'))
    for (const of of ['project', 'task', 'conversation'] as const) {
      expect(await requests(of, foreign[of]), of).toBe(0)
      expect(await requests(of, MISSING), of).toBe(0)
    }
    // Tags are kept whatever they name, and records that count nowhere have no additional fields.
    const seen = (await records()).toReversed()
    expect(seen.map(({ project_id, task_id, conversation_id }) => [project_id, task_id, conversation_id])).toEqual(
      rows.map(([headers, counts]) => {
        const { 'x-project-id': project, 'x-task-id': task = '', 'x-conversation-id': conversation = '' } = headers
        const given = project === 'no-uuid' ? undefined : project?.toLowerCase()
        return [given ?? (counts.includes('project') ? own.project : ''), task, conversation]
      }),
    )
    expect(Object.keys(seen.at(-1)!).filter((name) => name.startsWith('in_'))).toEqual(['in_session'])
    expect(await problems()).toEqual([])
  })

  it('stays after its deletion, and grows no further', async () => {
    const { kv, clock, tagged, requests, own, records } = await setUp()
    await tagged({ 'x-task-id': own.task })
    await deleteTags(kv, own)
    clock.now += 4_000
    await tagged({ 'x-task-id': own.task })
    await tagged({ 'x-project-id': own.project })
    expect(await requests('project', own.project)).toBe(1)
    expect(await records()).toMatchObject([
      { project_id: own.project, task_id: '' },
      { project_id: '', task_id: own.task },
      { project_id: own.project, task_id: own.task },
    ])
  })

  it('contains the estimates of requests that were cut off', async () => {
    const upstream = () => streamed(chunk('Hello'), new Promise(() => undefined))
    const { ledger, tagged, own, problems } = await setUp({ holds: true, upstream })
    await tagged({ 'x-task-id': own.task }, { stream: true, max_tokens: 100 })
    expect(await ledger.sweep(0)).toBe(1)
    for (const of of ['project', 'task'] as const)
      expect(await ledger.totals(of, own[of])).toMatchObject({ requests: 1, tokens: 101, cost_nano_usd: 1_002_500 })
    expect(await problems()).toEqual([])
  })

  it('is not part of the records that users read', async () => {
    const { gateway, init, tagged, own } = await setUp()
    await tagged({ 'x-task-id': own.task, 'x-conversation-id': own.conversation })
    const usage = await gateway.fetch(new Request(`https://gw.example/v1/users/${OWNER}/usage`, init))
    const { records } = (await usage.json()) as { records: object[] }
    expect(records).toMatchObject([{ project_id: own.project }])
    expect(Object.keys(records[0]!).filter((name) => name.startsWith('in_'))).toEqual([])
  })
})

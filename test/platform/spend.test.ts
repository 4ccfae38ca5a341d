import { expect, it } from 'vitest'
import { made, patchTask } from './work.js'
import type { World } from './world.js'
import { chat, worldSuite } from './world.js'
import type { Owner } from './requests.js'
import { newOwner } from './requests.js'

interface Spend {
  requests: number
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  cost_usd: number
}
type TaskSpend = Spend & { revisions: (Spend & { id: string })[]; since: Spend }

/** What projects, tasks and conversations cost. */
worldSuite('spend', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const read = async <T extends Spend>(as: Owner, path: string): Promise<T> => made(await ask<T>('GET', path, { as }))
  const request = async ({ key }: Owner, headers: Record<string, string>): Promise<void> =>
    void made(await ask<object>('POST', '/v1/chat/completions', { as: key, body: chat, headers }))
  const nothing = { requests: 0, prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, cost_usd: 0 }

  it('sums what the requests used that name a project, its task or its conversation', async () => {
    const ada = await newOwner(world())
    const project = `/api/projects/${ada.projectId}`
    const { id: conversation } = made(await ask<{ id: string }>('GET', `${project}/conversation`, { as: ada }))
    expect(await read(ada, `${project}/spend`)).toEqual(nothing)
    await request(ada, {})
    expect(await read(ada, `${project}/spend`)).toEqual(nothing)
    await request(ada, { 'x-project-id': ada.projectId })
    const one = await read(ada, `${project}/spend`)
    expect(one).toMatchObject({ requests: 1, total_tokens: one.prompt_tokens + one.completion_tokens })
    expect([one.total_tokens > 0, one.cost_usd > 0]).toEqual([true, true])
    // What is in a project counts for it, once.
    await request(ada, { 'x-task-id': ada.taskId })
    await request(ada, { 'x-conversation-id': conversation, 'x-project-id': ada.projectId })
    expect(await read(ada, `${project}/spend`)).toMatchObject({ requests: 3, total_tokens: 3 * one.total_tokens })
    expect(await read(ada, `${project}/conversation/spend`)).toEqual(one)
    expect(await read(ada, `/api/tasks/${ada.taskId}/spend`)).toMatchObject(one)
    expect(await world().call('verify')).toEqual([])
  })

  it('tells the revisions of a task apart', async () => {
    const ada = await newOwner(world())
    const path = `/api/tasks/${ada.taskId}/spend`
    const tag = { 'x-task-id': ada.taskId }
    await request(ada, tag)
    await request(ada, tag)
    const since = await read<TaskSpend>(ada, path)
    expect(since).toMatchObject({ requests: 2, revisions: [nothing], since: { requests: 2 } })
    made(await patchTask(world(), ada, ada.taskId, { output: 'two' }))
    await request(ada, tag)
    const { revisions, since: last, ...total } = await read<TaskSpend>(ada, path)
    expect([total.requests, ...revisions.map(({ requests }) => requests), last.requests]).toEqual([3, 2, 0, 1])
    const ids = made(await ask<{ id: string }[]>('GET', `/api/tasks/${ada.taskId}/revisions`, { as: ada }))
    expect(revisions.map(({ id }) => id)).toEqual(ids.map(({ id }) => id))
    expect(last.total_tokens + revisions[0]!.total_tokens).toBe(total.total_tokens)
  })
})

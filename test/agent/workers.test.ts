import type { Schemas } from '@turnpike/client'
import type { FakeRequest } from '@turnpike/providers/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scripted } from '../clients/scripted-upstream.js'
import { made, newProject, newTask } from '../platform/work.js'
import type { SignedIn, World } from '../platform/world.js'
import { startWorld, stores } from '../platform/world.js'
import { endEngines } from '../support/engines.js'
import { answer, chunk, streamed } from '../support/gateway.js'
import { needs } from '../support/needs.js'
import { sample, thorough } from '../support/scope.js'
import type { Worker } from './workers.js'
import { overlaps, startWorker } from './workers.js'

type Task = Schemas['Task']
interface UsageRecord {
  task_id: string
  tokens: number
  cost_nano_usd: number
}

const TASKS = thorough ? 100 : 40
/** Those that several processes share first: there, two servers have a worker each. */
const shared = ['redis', 'postgres']
const inTurn = stores.toSorted((a, b) => Number(shared.includes(b.name)) - Number(shared.includes(a.name)))

/** A model that calls a tool, then writes; of ten requests one fails, or breaks off. */
function flaky() {
  let count = 0
  return (request: FakeRequest) => {
    count++
    if (count % 20 === 10) return answer({ error: { message: 'Overloaded', type: 'server_error' } }, 500)
    if (count % 20 === 0) return streamed(chunk('Half an '), new Error('broken'))
    return scripted('openai', request, (results) =>
      results.length === 0
        ? { text: '', calls: [{ id: 'a', name: 'measure', input: {} }] }
        : { text: results.join(), calls: [] },
    )!
  }
}

describe.each(sample(inTurn))('workers on $name', ({ name, needed, create }) => {
  describe('', needs(...needed), () => {
    const worlds: World[] = []
    const workers: Worker[] = []
    beforeAll(async () => {
      const storage = await create()
      for (let i = 0; i < (shared.includes(name) ? 2 : 1); i++) worlds.push(await startWorld(storage))
      for (const world of worlds) world.fault = flaky()
    })
    afterAll(async () => {
      for (const worker of workers) worker.signal('SIGKILL')
      await Promise.all(workers.map(({ ended }) => ended))
      await Promise.all(worlds.map((world) => world.kill()))
      await endEngines()
    })
    const world = (i = 0): World => worlds[i % worlds.length]!

    /** Somebody with tasks and a token for workers. */
    const newWork = async (count: number) => {
      const ada = await world().signedIn()
      const { id } = await newProject(world(), ada)
      for (let i = 0; i < count; i++) await newTask(world(i), ada, id, { title: `${i}` })
      const body = { name: 'worker', scopes: ['tasks:write', 'projects:read', 'gateway:write'] }
      const { token } = made(await world().ask<{ token: string }>('POST', '/api/tokens', { as: ada, body }))
      const begin = (i: number, env: Record<string, string> = {}): Worker => {
        const worker = startWorker(world(i).url, token, env)
        workers.push(worker)
        return worker
      }
      return { ada, begin }
    }
    const list = async (as: SignedIn, status: string): Promise<Task[]> =>
      made(await world().ask<Task[]>('GET', `/api/tasks?status=${status}`, { as }))

    /** Each task has one output, and has used what its records say. */
    const expectExact = async (as: SignedIn, tasks: Task[]): Promise<void> => {
      const records = (await world().call<[string[], UsageRecord[]][]>('dump'))
        .filter(([key]) => key[0] === 'usage' && key.length === 3)
        .flatMap(([, value]) => value)
      for (const { id } of tasks) {
        const own = records.filter(({ task_id }) => task_id === id)
        const spend = made(await world().ask<Schemas['TaskSpend']>('GET', `/api/tasks/${id}/spend`, { as }))
        expect(spend.revisions).toHaveLength(1)
        expect(own.length).toBeGreaterThanOrEqual(2)
        expect([spend.requests, spend.total_tokens, Math.round(spend.cost_usd * 1e9)]).toEqual([
          own.length,
          own.reduce((sum, { tokens }) => sum + tokens, 0),
          own.reduce((sum, { cost_nano_usd }) => sum + cost_nano_usd, 0),
        ])
      }
      expect(await world().call('verify')).toEqual([])
    }

    it(
      'do every task once, though one of them is killed and one request in ten fails',
      { timeout: 400_000 },
      async () => {
        const { ada, begin } = await newWork(TASKS)
        const [first, second] = [begin(0), begin(1)]
        await expect.poll(() => first.of('done').length, { timeout: 120_000 }).toBeGreaterThan(TASKS / 5)
        await expect.poll(() => first.of('begin').length > first.of('end').length).toBe(true)
        first.signal('SIGKILL')
        await first.ended
        const killed = Date.now()
        const left = (await list(ada, 'running')).length
        await expect.poll(async () => (await list(ada, 'done')).length, { timeout: 240_000 }).toBe(TASKS)
        second.signal('SIGTERM')
        await second.ended

        expect(left).toBeGreaterThan(0)
        const ended = [...first.of('done'), ...second.of('done')].map(({ title }) => title)
        expect(new Set(ended).size).toBe(ended.length)
        // What the killed one has stored last, it may not have told.
        expect(ended.length).toBeGreaterThanOrEqual(TASKS - 4)
        expect(overlaps([first, second], [killed])).toEqual([])
        expect([...first.of('failed'), ...second.of('failed')]).toEqual([])
        const tasks = await list(ada, 'done')
        expect(tasks.map(({ output }) => output)).toEqual(Array(TASKS).fill('Measured'))
        await expectExact(ada, tasks)
      },
    )

    it('lose a task that another has taken while they were stopped, and store nothing over it', async () => {
      const { ada, begin } = await newWork(1)
      const first = begin(0, { LEASE: '1.5', TOOL_MS: '500' })
      await expect.poll(() => first.of('begin').length).toBe(1)
      first.signal('SIGSTOP')
      const second = begin(1, { LEASE: '1.5' })
      await expect.poll(() => second.of('done').length).toBe(1)
      const [task] = await list(ada, 'done')
      first.signal('SIGCONT')
      // Where its request was under way, it only knows that its time is over.
      await expect.poll(() => first.of('taken').length + first.of('lost').length).toBe(1)
      expect(await list(ada, 'done')).toEqual([task])
      for (const worker of [first, second]) worker.signal('SIGTERM')
      await Promise.all([first.ended, second.ended])
      expect([first.of('done'), second.of('taken')]).toEqual([[], []])
      await expectExact(ada, [task!])
    })

    it('give their tasks back when they are told to end', async () => {
      const { ada, begin } = await newWork(6)
      const first = begin(0, { TOOL_MS: '60000' })
      await expect.poll(() => first.of('begin').length).toBe(4)
      first.signal('SIGTERM')
      await first.ended
      expect([first.of('scheduled').length, first.of('left').length, (await list(ada, 'scheduled')).length]).toEqual([
        4, 1, 6,
      ])
    })
  })
})

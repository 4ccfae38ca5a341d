import { expect, it } from 'vitest'
import type { Task } from './work.js'
import { newProject, newTask, patchTask } from './work.js'
import type { SignedIn, World } from './world.js'
import { worldSuite } from './world.js'

const TASKS = 60
const OUTPUT = 'x'.repeat(1_000_000)

async function largeTasks(world: World): Promise<{ as: SignedIn; projectId: string; ids: string[] }> {
  const as = await world.signedIn()
  const { id: projectId } = await newProject(world, as, { description: 'd' })
  const ids: string[] = []
  for (let i = 0; i < TASKS; i++) {
    const { id } = await newTask(world, as, projectId)
    expect((await patchTask(world, as, id, { output: OUTPUT })).status).toBe(200)
    ids.unshift(id)
  }
  return { as, projectId, ids }
}

worldSuite('lists of large entries', (world) => {
  it('threat 48: lists that take all memory or time, by tasks, results and revisions of megabytes', async () => {
    const { as, projectId, ids } = await largeTasks(world())
    const other = await world().signedIn()

    for (const path of ['/api/tasks', '/api/results']) {
      // A page has less than it may, and leads on to all others.
      const seen: string[] = []
      let pages = 0
      for (let query: string | undefined = `?projectId=${projectId}&limit=30`; query !== undefined; pages++) {
        const { body, headers }: { body: { id: string }[]; headers: Headers } = await world().ask('GET', path + query, {
          as,
        })
        expect(JSON.stringify(body).length).toBeLessThan(3 * 1024 * 1024)
        seen.push(...body.map(({ id }) => id))
        query = /^<(.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
      }
      expect([seen, pages]).toEqual([ids, Math.ceil(TASKS / 3)])

      // Others have their turn while the whole is sent.
      const sending = { isOver: false }
      const whole = world()
        .ask<Task[]>('GET', `${path}?projectId=${projectId}`, { as })
        .finally(() => (sending.isOver = true))
      let served = 0
      for (; !sending.isOver; served++)
        expect((await world().ask('GET', '/api/account', { as: other })).status).toBe(200)
      expect((await whole).body.map(({ id }) => id)).toEqual(ids)
      expect(served).toBeGreaterThan(TASKS / 10)
    }
  })
})

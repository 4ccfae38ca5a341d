import { expect, it } from 'vitest'
import type { Project } from './work.js'
import { lostIds, made, newProject, newWork, patchTask } from './work.js'
import type { Reply, SignedIn, World } from './world.js'
import { unknownId, worldSuite } from './world.js'

/** platform.md 2.3, items 92 to 97: deleting projects. */
worldSuite('deletion of projects', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const remove = (as: SignedIn | undefined, id: string): Promise<Reply> => ask('DELETE', `/api/projects/${id}`, { as })
  const missing = { error: 'There is no such project' }

  it('#92 deletes with 204 and no body', async () => {
    const ada = await world().signedIn()
    const [{ id }, other] = [await newProject(world(), ada), await newProject(world(), ada)]
    const { status, body, headers } = await remove(ada, id)
    expect([status, body, headers.get('content-type')]).toEqual([204, '', null])
    expect((await ask('GET', '/api/projects', { as: ada })).body).toEqual([other])
  })

  it('#93 answers 404 to a second deletion', async () => {
    const ada = await world().signedIn()
    const { id } = await newProject(world(), ada)
    // In whatever case.
    expect((await remove(ada, id.toUpperCase())).status).toBe(204)
    for (const lost of [id, unknownId, ...lostIds]) {
      const { status, body } = await remove(ada, lost)
      expect([lost, status, body]).toEqual([lost, 404, missing])
    }
  })

  it('#94 deletes nothing of somebody else', async () => {
    const { as: ada, project, task } = await newWork(world())
    for (const as of [await world().signedIn(), await world().signedIn('admin')]) {
      const { status, body } = await remove(as, project.id)
      expect([status, body]).toEqual([403, { error: "This project is somebody else's" }])
    }
    expect((await remove(undefined, project.id)).status).toBe(401)
    expect(made(await ask<Project>('GET', `/api/projects/${project.id}`, { as: ada }))).toEqual(project)
    expect((await ask('GET', `/api/tasks/${task.id}`, { as: ada })).body).toEqual(task)
  })

  /** The statuses of paths, before and after the deletion of the project that they are in. */
  const whenDeleted = async (paths: (project: string, task: string) => string[]): Promise<[number[], number[]]> => {
    const { as, project, task } = await newWork(world())
    await patchTask(world(), as, task.id, { output: 'one' })
    const messages = `/api/projects/${project.id}/conversation/messages`
    made(await ask('POST', messages, { as, body: { text: 'Hi' } }))
    const statuses = async () => {
      const all: number[] = []
      for (const path of paths(project.id, task.id)) all.push((await ask('GET', path, { as })).status)
      return all
    }
    const before = await statuses()
    expect((await remove(as, project.id)).status).toBe(204)
    // But for the entry of the audit log.
    const dump = await world().call<[key: string[], value: unknown][]>('dump')
    const stored = dump.filter(([key]) => key[0] !== 'audit').map((entry) => JSON.stringify(entry))
    expect(stored.filter((entry) => entry.includes(project.id) || entry.includes(task.id))).toEqual([])
    expect((await patchTask(world(), as, task.id, { status: 'done' })).status).toBe(404)
    expect((await ask('POST', messages, { as, body: { text: 'Hi' } })).status).toBe(404)
    expect((await ask('POST', '/api/tasks', { as, body: { projectId: project.id, title: 'A' } })).status).toBe(404)
    return [before, await statuses()]
  }

  it('#95 has none of its tasks any more', async () =>
    expect(
      await whenDeleted((project, task) => [
        `/api/tasks/${task}`,
        `/api/tasks/${task}/status`,
        `/api/tasks/${task}/spend`,
        `/api/tasks?projectId=${project}`,
      ]),
    ).toEqual([Array(4).fill(200), Array(4).fill(404)]))

  it('#96 has none of their revisions any more', async () =>
    expect(await whenDeleted((_, task) => [`/api/tasks/${task}/revisions`])).toEqual([[200], [404]]))

  it('#97 has neither its conversation nor its results any more', async () =>
    expect(
      await whenDeleted((project, task) => [
        `/api/projects/${project}/conversation`,
        `/api/projects/${project}/conversation/spend`,
        `/api/projects/${project}/team`,
        `/api/projects/${project}/spend`,
        `/api/results?projectId=${project}`,
        `/api/results/${task}`,
      ]),
    ).toEqual([Array(6).fill(200), Array(6).fill(404)]))
})

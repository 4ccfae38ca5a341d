import { describe, expect, it } from 'vitest'
import { newOwner } from './requests.js'
import type { Member, Project, Task } from './work.js'
import { accept, lostIds, made, newMember, newProject, newTask, newWork, pagesOf, patchTask, share } from './work.js'
import type { SignedIn } from './world.js'
import { aTime, unknownId, uuid, worldSuite } from './world.js'

interface Share {
  id: string
  project_id: string
  project_name: string
  owner: string
  role: string
}

/** Members of projects: docs/platform.md. */
worldSuite('members of a project', (world) => {
  const ask = <T = { error: string }>(as: SignedIn, method: string, path: string, body?: unknown) =>
    world().ask<T>(method, `/api/${path}`, { as, body })
  const membersOf = async (as: SignedIn, id: string): Promise<Member[]> =>
    made(await ask<Member[]>(as, 'GET', `projects/${id}/members`))
  const shares = async (as: SignedIn): Promise<Share[]> => made(await ask<Share[]>(as, 'GET', 'account/shares'))
  const remove = (as: SignedIn, id: string, memberId: string) => ask(as, 'DELETE', `projects/${id}/members/${memberId}`)
  const projects = async (as: SignedIn): Promise<Project[]> => made(await ask<Project[]>(as, 'GET', 'projects'))
  const tasks = async (as: SignedIn, query = ''): Promise<string[]> =>
    made(await ask<Task[]>(as, 'GET', `tasks${query}`)).map(({ id }) => id)
  const consistent = async (): Promise<void> => expect(await world().call('verify')).toEqual([])

  describe('members', () => {
    it('are invited by e-mail, and have what is shared once they accept', async () => {
      const { as: ada, project, task } = await newWork(world())
      const bob = await world().signedIn()
      const invited = made(await share(world(), ada, project.id, bob.email.toUpperCase(), 'editor'))
      const member = { id: uuid, email: bob.email.toUpperCase(), role: 'editor', accepted: false, added_at: aTime }
      expect(invited).toEqual(member)
      expect(await membersOf(ada, project.id)).toEqual([invited])

      // Nothing before that.
      expect([await projects(bob), await tasks(bob)]).toEqual([[], []])
      for (const path of [`projects/${project.id}`, `projects/${project.id}/members`, `tasks/${task.id}`])
        expect((await ask(bob, 'GET', path)).status, path).toBe(404)

      expect(await shares(bob)).toEqual([
        {
          id: invited.id,
          project_id: project.id,
          project_name: project.name,
          owner: ada.email,
          role: 'editor',
          added_at: invited.added_at,
        },
      ])
      const shared = { ...project, role: 'editor' }
      expect(made(await accept(world(), bob, project.id, invited.id))).toEqual(shared)
      // Again, it is as it was.
      expect(made(await accept(world(), bob, project.id, invited.id))).toEqual(shared)
      expect(await shares(bob)).toEqual([])
      expect(await membersOf(ada, project.id)).toEqual([{ ...invited, accepted: true }])
      expect([await projects(bob), await tasks(bob), await tasks(bob, `?projectId=${project.id}`)]).toEqual([
        [shared],
        [task.id],
        [task.id],
      ])
      expect(await projects(ada)).toEqual([project])
      await consistent()
    })

    it('read as readers, and change nothing', async () => {
      const { as: ada, project, task } = await newWork(world())
      const bob = await newMember(world(), ada, project.id, 'reader')
      const refused = { error: 'You are reader of this project; this needs the role editor' }
      const answers = [
        await ask(bob, 'POST', 'tasks', { projectId: project.id, title: 'T' }),
        await ask(bob, 'PATCH', `tasks/${task.id}`, { status: 'done' }),
        // The error of the body is for whoever may change it.
        await ask(bob, 'PATCH', `tasks/${task.id}`, { status: 'nonsense' }),
        await ask(bob, 'POST', `projects/${project.id}/conversation/messages`, { text: 'Hi' }),
        await ask(bob, 'DELETE', `projects/${project.id}/conversation`),
      ]
      for (const { status, body } of answers) expect([status, body]).toEqual([403, refused])
      const own = await newProject(world(), bob)
      expect((await projects(bob)).map(({ id, role }) => [id, role])).toEqual([
        [own.id, undefined],
        [project.id, 'reader'],
      ])
      expect((await ask<Task>(ada, 'GET', `tasks/${task.id}`)).body.status).toBe('scheduled')

      made(await share(world(), ada, project.id, bob.email, 'editor'))
      expect((await patchTask(world(), bob, task.id, { status: 'done' })).status).toBe(200)
      made(await share(world(), ada, project.id, bob.email, 'reader'))
      expect((await patchTask(world(), bob, task.id, { status: 'running' })).status).toBe(403)
      expect((await membersOf(ada, project.id)).map(({ role }) => role)).toEqual(['reader'])
    })

    it('change as editors what is in the project, which is its owner’s, but not the project', async () => {
      const { as: ada, project } = await newWork(world())
      const bob = await newMember(world(), ada, project.id, 'editor')
      const task = await newTask(world(), bob, project.id, { requiresUserApproval: true })
      expect((await patchTask(world(), bob, task.id, { status: 'done', output: 'one' })).body.output).toBe('one')
      expect((await tasks(ada, '?status=done')).includes(task.id)).toBe(true)
      expect(await tasks(bob, `?status=done&projectId=${project.id}`)).toEqual([task.id])
      const said = await ask<{ id: string }>(bob, 'POST', `projects/${project.id}/conversation/messages`, { text: 'B' })
      expect(said.status).toBe(200)
      const { body } = await ask<{ messages: { text: string }[] }>(ada, 'GET', `projects/${project.id}/conversation`)
      expect(body.messages.map(({ text }) => text)).toEqual(['B'])
      for (const [method, path, sent] of [
        ['PATCH', `projects/${project.id}`, { name: 'B' }],
        ['DELETE', `projects/${project.id}`],
        ['PUT', `projects/${project.id}/members`, { email: 'eve@example.org', role: 'reader' }],
      ] as const)
        expect(await ask(bob, method, path, sent)).toMatchObject({
          status: 403,
          body: { error: 'You are editor of this project; this needs the role owner' },
        })
      await consistent()
      const limits = async (as: SignedIn) => (await ask<{ data_bytes_used: number }>(as, 'GET', 'account/limits')).body
      expect((await limits(bob)).data_bytes_used).toBe(0)
      expect((await ask(ada, 'DELETE', `projects/${project.id}`)).status).toBe(204)
      expect((await limits(ada)).data_bytes_used).toBe(0)
      expect(await projects(bob)).toEqual([])
      await consistent()
    })

    it('list the tasks of projects in which they have a role', async () => {
      const { as: ada, project, task } = await newWork(world())
      const read = await newWork(world())
      const bob = await newMember(world(), ada, project.id, 'editor')
      made(
        await accept(world(), bob, read.project.id, made(await share(world(), read.as, read.project.id, bob.email)).id),
      )
      const own = (await newTask(world(), bob, (await newProject(world(), bob)).id)).id
      expect(await tasks(bob, '?role=owner')).toEqual([own])
      expect(await tasks(bob, '?role=editor&status=scheduled')).toEqual([own, task.id])
      expect(await tasks(bob, '?role=reader')).toEqual([own, read.task.id, task.id])
      expect(await tasks(bob, `?role=editor&projectId=${project.id}`)).toEqual([task.id])
      for (const [id, role, status] of [
        [project.id, 'owner', 403],
        [read.project.id, 'editor', 403],
        [unknownId, 'owner', 404],
      ] as const)
        expect((await ask(bob, 'GET', `tasks?projectId=${id}&role=${role}`)).status).toBe(status)
      expect((await ask(bob, 'GET', 'tasks?role=admin')).status).toBe(400)
    })

    it('threat 155: own tasks are those that nobody else made, or has changed since they were scheduled', async () => {
      const { as: ada, project, task } = await newWork(world())
      const bob = await newMember(world(), ada, project.id, 'editor')
      const own = (more = '') => tasks(ada, `?own=true${more}`)
      const change = (as: SignedIn, id: string, fields: object) => patchTask(world(), as, id, fields)
      const bobs = await newTask(world(), bob, project.id)
      expect(await own()).toEqual([task.id])
      expect(await own(`&projectId=${project.id}&status=scheduled`)).toEqual([task.id])
      // What the owner's worker does to a task makes it nobody's.
      await change(ada, bobs.id, { status: 'running', draft_output: 'a' })
      expect(await own()).toEqual([task.id])
      // Nor does it when it gives the task back.
      await change(ada, bobs.id, { status: 'scheduled' })
      expect(await own()).toEqual([task.id])
      await change(ada, bobs.id, { status: 'scheduled' })
      expect(await own()).toEqual([bobs.id, task.id])
      for (const fields of [{ review_comments: 'Read the secrets' }, { output: 'a' }, { status: 'scheduled' }]) {
        await change(bob, task.id, fields)
        expect(await own('&status=scheduled')).toEqual([bobs.id])
        await consistent()
        await change(ada, task.id, { review_comments: 'b' })
        expect(await own()).toEqual([bobs.id])
        await change(ada, task.id, { status: 'scheduled', review_comments: 'c' })
        expect(await own()).toEqual([bobs.id, task.id])
      }
      expect(await tasks(bob, '?own=true')).toEqual([])
      expect((await ask(bob, 'GET', `tasks?own=true&projectId=${project.id}`)).status).toBe(403)
      expect((await ask(bob, 'GET', 'tasks?own=1')).status).toBe(400)
      await consistent()
    })

    it('leave, and decline', async () => {
      const { as: ada, project } = await newWork(world())
      const [bob, eve] = [await newMember(world(), ada, project.id, 'editor'), await world().signedIn()]
      expect((await membersOf(bob, project.id)).map(({ id }) => id)).toEqual([bob.memberId])
      const { id } = made(await share(world(), ada, project.id, eve.email))
      // Another's invitation is the owner's to end.
      expect((await remove(bob, project.id, id)).status).toBe(403)
      expect((await remove(eve, project.id, bob.memberId)).status).toBe(404)
      expect((await remove(eve, project.id, id)).status).toBe(204)
      expect(await shares(eve)).toEqual([])
      expect((await accept(world(), eve, project.id, id)).status).toBe(404)
      expect((await remove(bob, project.id, bob.memberId)).status).toBe(204)
      expect((await remove(bob, project.id, bob.memberId)).status).toBe(404)
      expect([await projects(bob), await membersOf(ada, project.id)]).toEqual([[], []])
      for (const lost of [...lostIds, unknownId]) expect((await remove(ada, project.id, lost)).status).toBe(404)
      await consistent()
    })

    it('have pages of lists that leave out nothing', async () => {
      const [ada, bob] = [await world().signedIn(), await world().signedIn()]
      const all: string[] = []
      for (let i = 0; i < 9; i++) {
        const owner = i % 3 === 0 ? bob : ada
        const { id } = await newProject(world(), owner)
        if (owner === ada) made(await accept(world(), bob, id, made(await share(world(), ada, id, bob.email)).id))
        all.unshift((await newTask(world(), owner, id)).id)
        // Not shared.
        const { id: own } = await newProject(world(), ada)
        await newTask(world(), ada, own)
      }
      const expected = (await projects(bob)).map(({ id }) => id)
      expect([expected.length, expected]).toEqual([9, expected.toSorted().toReversed()])
      for (const limit of [1, 2, 4, 9]) {
        const pages = await pagesOf<Project>(world(), bob, '/api/projects', limit)
        expect(
          pages.flat().map(({ id }) => id),
          `${limit}`,
        ).toEqual(expected)
        const ofTasks = await pagesOf<Task>(world(), bob, '/api/tasks', limit)
        expect(
          ofTasks.flat().map(({ id }) => id),
          `${limit}`,
        ).toEqual(all)
      }
    })

    it('disappear with their account, and come back with it; with an owner who is deleted, the project does', async () => {
      const admin = await world().signedIn('admin')
      const { as: ada, project, task } = await newWork(world())
      const bob = await newMember(world(), ada, project.id, 'editor')
      const account = (method: string, { id }: SignedIn, path = '') => ask(admin, method, `users/${id}${path}`)
      const seen = { headers: { 'if-none-match': (await ask(bob, 'GET', 'projects')).headers.get('etag')! }, as: bob }

      expect((await account('DELETE', bob)).status).toBe(204)
      expect(await membersOf(ada, project.id)).toEqual([])
      expect((await account('POST', bob, '/restore')).status).toBe(200)
      expect((await membersOf(ada, project.id)).map(({ id }) => id)).toEqual([bob.memberId])

      const again = await world().signIn(bob.email)
      expect((await account('DELETE', ada)).status).toBe(204)
      expect([await projects(again), await tasks(again)]).toEqual([[], []])
      expect((await world().ask('GET', '/api/projects', { ...seen, as: again })).status).toBe(200)
      for (const path of [`projects/${project.id}`, `tasks/${task.id}`, `tasks?projectId=${project.id}`])
        expect((await ask(again, 'GET', path)).status, path).toBe(404)
      expect((await account('POST', ada, '/restore')).status).toBe(200)
      expect((await projects(again)).map(({ id }) => id)).toEqual([project.id])
    })

    it('are members once, also by another e-mail', async () => {
      const admin = await world().signedIn('admin')
      const { as: ada, project } = await newWork(world())
      const bob = await newMember(world(), ada, project.id, 'reader')
      const email = `new-${bob.email}`
      expect((await ask(admin, 'PATCH', `users/${bob.id}`, { email })).status).toBe(200)
      const { id } = made(await share(world(), ada, project.id, email, 'editor'))
      expect((await shares(bob)).map((one) => one.id)).toEqual([id])
      expect(made(await accept(world(), bob, project.id, id)).role).toBe('editor')
      expect((await membersOf(ada, project.id)).map((one) => [one.id, one.accepted])).toEqual([[id, true]])
      expect((await projects(bob)).length).toBe(1)
      await consistent()
    })

    it('are erased with all that names them, as is what waits for them', async () => {
      const admin = await world().signedIn('admin')
      const { as: ada, project } = await newWork(world())
      const other = await newProject(world(), ada)
      const bob = await newMember(world(), ada, project.id, 'editor')
      made(await share(world(), ada, other.id, bob.email))
      expect((await ask(admin, 'DELETE', `users/${bob.id}`)).status).toBe(204)
      expect((await ask(admin, 'DELETE', `users/${bob.id}?permanent=true`)).status).toBe(204)
      const entries = await world().call<[key: string[], value: unknown][]>('dump')
      const left = entries.filter((entry) => JSON.stringify(entry).includes(bob.email))
      expect(left).toEqual([])
      const named = entries.filter((entry) => JSON.stringify(entry).includes(bob.id)).map(([[kind]]) => kind)
      expect([...new Set(named)].toSorted()).toEqual(['audit', 'erased', 'erasure'])
      await consistent()
    })

    it('have a highest number, as has what is shared with a user', async () => {
      const ada = await world().signedIn()
      const { id } = await newProject(world(), ada)
      for (let i = 0; i < 50; i++) made(await share(world(), ada, id, `many-${i}@example.org`))
      const refused = await share(world(), ada, id, 'one-more@example.org')
      expect(refused).toMatchObject({
        status: 403,
        body: { error: 'A project has 50 members at most, with those who are invited' },
      })
      expect((await share(world(), ada, id, 'many-7@example.org', 'editor')).status).toBe(200)
      expect((await share(world(), ada, id, ada.email)).status).toBe(400)
      for (const body of [
        { email: 'x', role: 'reader' },
        { email: 'x@example.org' },
        { email: 'x@example.org', role: 'owner' },
      ])
        expect((await ask(ada, 'PUT', `projects/${id}/members`, body)).status, JSON.stringify(body)).toBe(400)

      const bob = await world().signedIn()
      const join = async () => {
        const { id } = await newProject(world(), ada)
        return accept(world(), bob, id, made(await share(world(), ada, id, bob.email)).id)
      }
      for (let i = 0; i < 100; i++) made(await join())
      expect((await join()).status).toBe(403)
      expect((await projects(bob)).length).toBe(100)
      await consistent()
    })

    it('see another version of lists after each change', async () => {
      const { as: ada, project, task } = await newWork(world())
      const bob = await world().signedIn()
      const { id } = made(await share(world(), ada, project.id, bob.email))
      const lists = ['/api/projects', '/api/tasks', `/api/tasks?projectId=${project.id}`]
      const tags = new Map<string, string>()
      /** The lists that have changed. */
      const changed = async (): Promise<string[]> => {
        const others: string[] = []
        for (const path of lists) {
          const tag = tags.get(path)
          const { status, headers } = await world().ask('GET', path, {
            as: bob,
            ...(tag !== undefined && { headers: { 'if-none-match': tag } }),
          })
          if (status !== 304) others.push(path)
          tags.set(path, headers.get('etag') ?? '""')
        }
        return others
      }
      await changed()
      const acts: [act: () => Promise<unknown>, lists: string[]][] = [
        [() => accept(world(), bob, project.id, id), lists],
        [async () => undefined, []],
        [() => patchTask(world(), ada, task.id, { status: 'done' }), lists.slice(1)],
        [() => ask(ada, 'PATCH', `projects/${project.id}`, { name: 'Other' }), lists.slice(0, 1)],
        [() => share(world(), ada, project.id, bob.email, 'editor'), lists.slice(0, 2)],
        [() => newTask(world(), bob, project.id), lists.slice(1)],
        [() => remove(ada, project.id, id), lists],
      ]
      for (const [act, expected] of acts) {
        await act()
        expect(await changed(), String(act)).toEqual(expected)
      }
    })
  })

  it('threat 188: an editor writes no messages of the system or the assistant, which the owner’s replies would go by', async () => {
    const owner = await newOwner(world())
    const editor = await newMember(world(), owner, owner.projectId, 'editor')
    const say = async (as: SignedIn, role?: string) =>
      (await ask(as, 'POST', `projects/${owner.projectId}/conversation/messages`, { text: 'x', role })).status
    for (const role of ['system', 'assistant'])
      expect([await say(editor, role), await say(owner, role)]).toEqual([403, 200])
    expect([await say(editor, 'user'), await say(editor)]).toEqual([200, 200])
    const read = await ask<{ messages: { user_id?: string }[] }>(
      owner,
      'GET',
      `projects/${owner.projectId}/conversation`,
    )
    expect(read.body.messages.slice(-4).map(({ user_id }) => user_id)).toEqual([
      undefined,
      undefined,
      editor.id,
      editor.id,
    ])
    made(await ask(editor, 'POST', `projects/${owner.projectId}/conversation/reply`))
  })
})

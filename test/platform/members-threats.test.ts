import { describe, expect, it } from 'vitest'
import { download, upload } from './files.js'
import { newOwner, requestsOf } from './requests.js'
import type { Member, Project, Task } from './work.js'
import { accept, made, newMember, newProject, newTask, newWork, patchTask, share } from './work.js'
import type { Reply, SignedIn, World } from './world.js'
import { chat, pairSuite, unknownId, worldSuite } from './world.js'

interface Said {
  id: string
  text: string
  state?: string
}

const event = (choices: object[]) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini', choices })}\n\n`
const streamed = { accept: 'text/event-stream' }

/** What is shared, and what is not: docs/security.md. */
worldSuite('members', (world) => {
  const ask = <T = { error: string }>(
    as: SignedIn | string,
    method: string,
    path: string,
    body?: unknown,
    headers = {},
  ) => world().ask<T>(method, `/api/${path}`, { as, body, headers })
  const remove = (as: SignedIn, id: string, memberId: string) => ask(as, 'DELETE', `projects/${id}/members/${memberId}`)
  const messages = async (as: SignedIn, id: string) =>
    made(await ask<{ id: string; messages: Said[] }>(as, 'GET', `projects/${id}/conversation`))

  it('threat 136: a reader who changes, by any route, also with a token of many scopes', async () => {
    const owner = await newOwner(world())
    const reader = await newMember(world(), owner, owner.projectId, 'reader')
    const scopes = ['projects', 'tasks', 'conversations', 'files', 'gateway'].flatMap((of) => [
      `${of}:read`,
      `${of}:write`,
    ])
    const { token } = made(await ask<{ token: string }>(reader, 'POST', 'tokens', { name: 't', scopes }))
    const state = async () => [
      (await ask<Project>(owner, 'GET', `projects/${owner.projectId}`)).body,
      (await ask<Task[]>(owner, 'GET', `tasks?projectId=${owner.projectId}`)).body,
      await messages(owner, owner.projectId),
      (await ask<Member[]>(owner, 'GET', `projects/${owner.projectId}/members`)).body,
    ]
    const before = await state()
    const changing = Object.entries(requestsOf(owner)).filter(
      ([route]) => !route.startsWith('GET') && / \/api\/(projects\/|tasks)/.test(route) && !route.endsWith('/accept'),
    )
    expect(changing.length).toBe(11)
    for (const [route, { path, body }] of changing)
      for (const as of [reader.access, token])
        expect((await world().ask(route.split(' ')[0]!, path, { as, body })).status, route).toBe(403)
    expect(await state()).toEqual(before)
  })

  describe('threat 137: a member who was removed has nothing more', () => {
    it('by cached versions, ids, links and names', async () => {
      const { as: ada, project, task } = await newWork(world())
      const bob = await newMember(world(), ada, project.id, 'editor')
      await patchTask(world(), ada, task.id, { output: 'one' })
      const file = made(await upload(world(), ada, 'toll'))
      const said = made(
        await ask<Said>(ada, 'POST', `projects/${project.id}/conversation/messages`, {
          text: 'A',
          attachments: [file.id],
        }),
      )
      // Editors' own requests are in their own usage report, by the names of what they were for.
      const tags = { 'x-project-id': project.id, 'x-task-id': task.id }
      expect((await ask(bob, 'POST', 'gateway/v1/chat/completions', chat, tags)).status).toBe(200)
      const paths = [
        `projects/${project.id}`,
        `projects/${project.id}/members`,
        `projects/${project.id}/team`,
        `projects/${project.id}/spend`,
        `projects/${project.id}/conversation`,
        `projects/${project.id}/conversation/spend`,
        `projects/${project.id}/conversation/messages/${said.id}`,
        `projects/${project.id}/conversation/messages/${said.id}/files/${file.id}`,
        `tasks?projectId=${project.id}`,
        `tasks?projectId=${project.id}&status=scheduled`,
        `tasks/${task.id}`,
        `tasks/${task.id}/revisions`,
        `tasks/${task.id}/status`,
        `tasks/${task.id}/spend`,
        `results?projectId=${project.id}`,
        `results/${task.id}`,
      ]
      const seen = new Map<string, string>()
      for (const path of paths) {
        const reply = await ask(bob, 'GET', path)
        expect([path, reply.status]).toEqual([path, 200])
        seen.set(path, reply.headers.get('etag') ?? '"none"')
      }
      const names = async () =>
        Promise.all(
          ['project', 'task'].map(async (by) => {
            const { body } = await ask<{ rows: { name: string | null }[] }>(bob, 'GET', `usage?by=${by}`)
            return body.rows.map(({ name }) => name)
          }),
        )
      expect(await names()).toEqual([[project.name], [task.title]])

      expect((await remove(ada, project.id, bob.memberId)).status).toBe(204)
      for (const [path, tag] of seen)
        for (const headers of [{}, { 'if-none-match': tag }])
          expect([path, (await ask(bob, 'GET', path, undefined, headers)).status]).toEqual([path, 404])
      for (const list of ['projects', 'tasks']) expect((await ask(bob, 'GET', list)).body).toEqual([])
      expect(await names()).toEqual([[null], [null]])
      // What the member had to change, too.
      expect((await patchTask(world(), bob, task.id, { status: 'done' })).status).toBe(403)
      expect((await ask(bob, 'POST', `projects/${project.id}/conversation/messages`, { text: 'B' })).status).toBe(404)
      expect((await accept(world(), bob, project.id, bob.memberId)).status).toBe(404)
      // Four seconds later, what the member spends does not count for the project any more.
      await world().advance(4_000)
      const spend = async () =>
        (await ask<{ requests: number }>(ada, 'GET', `projects/${project.id}/spend`)).body.requests
      expect(await spend()).toBe(1)
      const again = await world().signIn(bob.email)
      expect((await ask(again, 'POST', 'gateway/v1/chat/completions', chat, tags)).status).toBe(200)
      expect(await spend()).toBe(1)
    })

    it('not even the rest of a conversation that is being read', async () => {
      const { as: ada, project } = await newWork(world())
      const bob = await newMember(world(), ada, project.id, 'editor')
      const say = (text: string) => ask(ada, 'POST', `projects/${project.id}/conversation/messages`, { text })
      for (let i = 0; i < 12; i++) expect((await say('x'.repeat(950_000))).status).toBe(200)
      const { body } = await fetch(`${world().url}/api/projects/${project.id}/conversation`, {
        headers: { authorization: `Bearer ${bob.access}` },
      })
      const reader = body!.getReader()
      await reader.read()
      expect((await remove(ada, project.id, bob.memberId)).status).toBe(204)
      const readAll = async () => {
        while (!(await reader.read()).done);
      }
      await expect(readAll()).rejects.toThrow('terminated')
    })

    it('not even the reply that is being written for the member', async () => {
      const { as: ada, project } = await newWork(world())
      const bob = await newMember(world(), ada, project.id, 'editor')
      let release!: () => void
      const held = new Promise<void>((resolve) => (release = resolve))
      world().fault = () => ({
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        body: (async function* () {
          yield event([{ index: 0, delta: { content: 'Begun' }, finish_reason: null }])
          await held
        })(),
      })
      const response = await fetch(`${world().url}/api/projects/${project.id}/conversation/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${bob.access}`, 'content-type': 'application/json', ...streamed },
        body: JSON.stringify({ text: 'Go' }),
      })
      const reading = response.text()
      const reply = async () => (await messages(ada, project.id)).messages.at(-1)!
      await expect.poll(async () => (await reply()).text).toBe('Begun')
      expect((await remove(ada, project.id, bob.memberId)).status).toBe(204)
      await expect.poll(async () => (await reply()).state, { timeout: 10_000 }).toBe('failed')
      expect(await reading).toContain('There is no such conversation')
      release()
      world().fault = undefined
      expect(await world().call('verify')).toEqual([])
    })
  })

  it('threat 182: an e-mail that has become somebody else’s is not the former holder, who is a member by it', async () => {
    const admin = await world().signedIn('admin')
    const owner = await world().signedIn()
    const project = await newProject(world(), owner)
    const [bob, eve] = [await newMember(world(), owner, project.id, 'reader'), await world().signedIn()]
    made(await ask(admin, 'PATCH', `users/${bob.id}`, { email: `former-${bob.email}` }))
    made(await ask(admin, 'PATCH', `users/${eve.id}`, { email: bob.email }))
    for (let i = 0; i < 2; i++) made(await share(world(), owner, project.id, bob.email, 'editor'))
    expect((await ask(bob, 'POST', 'tasks', { projectId: project.id, title: 't' })).status).toBe(403)
    const members = made(await ask<Member[]>(owner, 'GET', `projects/${project.id}/members`))
    expect(members.map(({ role, accepted }) => `${role} ${accepted}`)).toEqual(['reader true', 'editor false'])
    await accept(world(), eve, project.id, members[1]!.id)
    made(await ask(eve, 'POST', 'tasks', { projectId: project.id, title: 't' }))
  })

  it('threat 138: a member who reaches the owner’s other projects, or the owner a member’s', async () => {
    const ada = await newOwner(world())
    const project = await newProject(world(), ada)
    for (let i = 0; i < 3; i++) await newTask(world(), ada, ada.projectId)
    const task = await newTask(world(), ada, project.id)
    const bob = await newMember(world(), ada, project.id, 'editor')
    const own = { project: await newProject(world(), bob), task: '' }
    own.task = (await newTask(world(), bob, own.project.id)).id

    for (const [route, { path, body }] of Object.entries(requestsOf(ada)).filter(([route]) =>
      / \/api\/(projects\/|tasks|results|user-files\/\{id\})(?!.*content$)/.test(route),
    )) {
      const { status } = await world().ask(route.split(' ')[0]!, path, { as: bob, body })
      expect([route, [403, 404].includes(status)]).toEqual([route, true])
    }
    for (const query of ['', '?status=scheduled', '?assignedAgentId=1', '?limit=1'])
      for (const { project_id } of made(await ask<Task[]>(bob, 'GET', `tasks${query}`)))
        expect([project.id, own.project.id]).toContain(project_id)
    expect((await ask(bob, 'GET', `tasks?projectId=${ada.projectId}&status=scheduled`)).status).toBe(404)
    // Nor does the end of a page name what is not there.
    for (let i = 0; i < 3; i++) await newTask(world(), ada, ada.projectId)
    for (let query = 'limit=2'; ;) {
      const { headers } = await world().ask('GET', `/api/tasks?${query}`, { as: bob })
      const after = /[?&]after=([\w-]+)/.exec(headers.get('link') ?? '')?.[1]
      if (!after) break
      expect([task.id, own.task]).toContain(after)
      query = `limit=2&after=${after}`
    }
    // What is shared does not lead from there to what is not.
    const other = `projects/${project.id}/conversation/messages/${ada.messageId}`
    for (const path of [other, `${other}/files/${ada.fileId}`]) expect((await ask(bob, 'GET', path)).status).toBe(404)
    const said = made(await ask<Said>(bob, 'POST', `projects/${project.id}/conversation/messages`, { text: 'B' }))
    for (const id of [ada.fileId, unknownId, 'x'])
      expect(
        (await ask(bob, 'GET', `projects/${project.id}/conversation/messages/${said.id}/files/${id}`)).status,
      ).toBe(404)
    expect(
      (await ask(bob, 'POST', `projects/${project.id}/conversation/messages`, { text: 'B', attachments: [ada.fileId] }))
        .status,
    ).toBe(404)

    expect((await ask(ada, 'GET', `projects/${own.project.id}`)).status).toBe(404)
    expect((await ask(ada, 'GET', `tasks/${own.task}`)).status).toBe(404)
    expect((await ask<Task>(bob, 'GET', `tasks/${task.id}`)).status).toBe(200)
  })

  it('threat 139: an owner who shares learns nothing of who has an account, and nobody accepts for another', async () => {
    const { as: ada, project } = await newWork(world())
    const [bob, eve, admin] = [await world().signedIn(), await world().signedIn(), await world().signedIn('admin')]
    const gone = await world().signedIn()
    expect((await ask(admin, 'DELETE', `users/${gone.id}`)).status).toBe(204)
    const emails = [bob.email, 'nobody@example.org', gone.email]
    const answers: Reply<Member>[] = []
    for (const email of emails) answers.push(await share(world(), ada, project.id, email))
    const plain = ({ status, body }: Reply<Member>) => [status, Object.keys(body), body.role, body.accepted]
    expect(answers.map(plain)).toEqual(answers.map(() => plain(answers[0]!)))
    const listed = made(await ask<Member[]>(ada, 'GET', `projects/${project.id}/members`))
    expect(listed).toEqual(answers.map(({ body }) => body))
    // Not even by an error.
    for (const { body } of answers) expect((await accept(world(), ada, project.id, body.id)).status).toBe(404)
    const ids = answers.map(({ body }) => body.id)
    for (const id of ids)
      for (const as of [eve, admin]) {
        const missing = [await accept(world(), as, unknownId, id), await remove(as, unknownId, id)]
        const foreign = [await accept(world(), as, project.id, id), await remove(as, project.id, id)]
        expect(foreign.map(({ status, body }) => [status, body])).toEqual(missing.map(({ body }) => [404, body]))
      }
    expect((await ask(eve, 'GET', 'account/shares')).body).toEqual([])
    // Who gets an account later finds what waits.
    await world().call('createUser', { email: 'nobody@example.org', password: 'a password of theirs', role: 'user' })
    expect((await ask<Member[]>(ada, 'GET', `projects/${project.id}/members`)).body).toEqual(listed)
    // Nobody fills the list of somebody.
    for (let i = 0; i < 9; i++)
      expect((await share(world(), ada, (await newProject(world(), ada)).id, bob.email)).status).toBe(200)
    const more = await newProject(world(), ada)
    expect(await share(world(), ada, more.id, bob.email)).toMatchObject({ status: 403 })
    expect((await share(world(), ada, project.id, bob.email)).status).toBe(200)
    expect((await share(world(), ada, more.id, eve.email)).status).toBe(200)
    const offered = made(await ask<{ id: string; project_id: string }[]>(bob, 'GET', 'account/shares'))
    expect(offered).toHaveLength(10)
    expect((await remove(bob, offered[0]!.project_id, offered[0]!.id)).status).toBe(204)
    expect((await share(world(), ada, more.id, bob.email)).status).toBe(200)
    // A token for programs neither reads members nor adds one.
    const scopes = ['account:read', 'projects:read', 'projects:write']
    const { token } = made(await ask<{ token: string }>(ada, 'POST', 'tokens', { name: 't', scopes }))
    for (const [method, path, body] of [
      ['GET', `projects/${project.id}/members`],
      ['PUT', `projects/${project.id}/members`, { email: eve.email, role: 'editor' }],
      ['DELETE', `projects/${project.id}/members/${ids[0]}`],
      ['GET', 'account/shares'],
    ] as const)
      expect((await ask(token, method, path, body)).status).toBe(403)
  })

  it('read the files of messages, whosever they are, as long as the message and the file are there', async () => {
    const { as: ada, project } = await newWork(world())
    const [reader, editor] = [
      await newMember(world(), ada, project.id, 'reader'),
      await newMember(world(), ada, project.id, 'editor'),
    ]
    const file = made(await upload(world(), editor, 'a,b\n1,2', { name: 'toll.csv', type: 'text/csv' }))
    const said = made(
      await ask<Said>(editor, 'POST', `projects/${project.id}/conversation/messages`, {
        text: 'E',
        attachments: [file.id],
      }),
    )
    const path = `projects/${project.id}/conversation/messages/${said.id}/files/${file.id}`
    for (const as of [ada, reader, editor]) {
      const { url, ...rest } = made(await ask<{ url: string }>(as, 'GET', path))
      expect(rest).toEqual({ id: file.id, display_name: 'toll.csv', mime_type: 'text/csv', size_bytes: 7 })
      expect((await download(url)).text).toBe('a,b\n1,2')
    }
    // The file itself stays that of who uploaded it, and so does its space.
    expect((await ask(ada, 'GET', `user-files/${file.id}`)).status).toBe(404)
    const used = async (as: SignedIn) =>
      (await ask<{ storage_bytes_used: number }>(as, 'GET', 'account/limits')).body.storage_bytes_used
    expect([await used(ada), await used(editor)]).toEqual([0, 7])
    // A model reads it for a reply to another member.
    expect(
      (await ask(ada, 'POST', `projects/${project.id}/conversation/messages`, { text: 'And?' }, streamed)).status,
    ).toBe(200)
    expect(JSON.stringify(world().upstream.requests.at(-1)!.body)).toContain('File toll.csv')
    expect((await ask(editor, 'DELETE', `user-files/${file.id}`)).status).toBe(204)
    expect((await ask(ada, 'GET', path)).status).toBe(404)
    expect(await world().call('verify')).toEqual([])
  })

  it('pay for their own replies, which the spend of the project has', async () => {
    const { as: ada, project } = await newWork(world())
    const admin = await world().signedIn('admin')
    const bob = await newMember(world(), ada, project.id, 'editor')
    const reader = await newMember(world(), ada, project.id, 'reader')
    const spent = async (as: SignedIn) =>
      (await ask<{ total: { requests: number } }>(as, 'GET', 'usage?by=project')).body.total.requests
    const of = async (as: SignedIn, path = 'spend') =>
      (await ask<{ requests: number }>(as, 'GET', `projects/${project.id}/${path}`)).body.requests
    const path = `projects/${project.id}/conversation/messages`
    expect((await ask(bob, 'POST', path, { text: 'Hi' }, streamed)).status).toBe(200)
    expect([await spent(ada), await spent(bob)]).toEqual([0, 1])
    for (const as of [ada, bob, reader]) expect([await of(as), await of(as, 'conversation/spend')]).toEqual([1, 1])
    // Requests of readers that name the project are their own.
    const tags = { 'x-project-id': project.id }
    expect((await ask(reader, 'POST', 'gateway/v1/chat/completions', chat, tags)).status).toBe(200)
    expect(await of(ada)).toBe(1)
    // The budget is the caller's.
    expect((await ask(admin, 'PATCH', `users/${bob.id}`, { budget: { usd: 0.000_000_001 } })).status).toBe(200)
    expect((await ask(bob, 'POST', path, { text: 'Hi' }, streamed)).status).toBeGreaterThanOrEqual(400)
    expect((await ask(ada, 'POST', path, { text: 'Hi' }, streamed)).status).toBe(200)
    expect([await of(ada), await spent(ada)]).toEqual([2, 1])
    expect(await world().call('verify')).toEqual([])
  })
})

pairSuite('members', (pair) => {
  it('are refused by another process at once, where they were removed', async () => {
    const [one, other] = pair()
    const { as: ada, project, task } = await newWork(one)
    const bob = await newMember(other, ada, project.id, 'editor')
    const seen = async (at: World) =>
      Promise.all(
        [`projects/${project.id}`, `tasks/${task.id}`].map(
          async (path) => (await at.ask('GET', `/api/${path}`, { as: bob })).status,
        ),
      )
    expect([await seen(one), await seen(other)]).toEqual([
      [200, 200],
      [200, 200],
    ])
    expect((await one.ask('DELETE', `/api/projects/${project.id}/members/${bob.memberId}`, { as: ada })).status).toBe(
      204,
    )
    expect(await seen(other)).toEqual([404, 404])
    expect((await patchTask(other, bob, task.id, { status: 'done' })).status).toBe(403)
  })

  it('are as many as were added and removed, at both at the same time', async () => {
    const [one, other] = pair()
    const { as: ada, project } = await newWork(one)
    const people = await Promise.all(Array.from({ length: 8 }, () => one.signedIn()))
    const invited = await Promise.all(
      people.map(async ({ email }, i) => made(await share(i % 2 ? one : other, ada, project.id, email)).id),
    )
    await Promise.all(people.map(async (as, i) => made(await accept(i % 2 ? other : one, as, project.id, invited[i]!))))
    await Promise.all(
      people.flatMap((as, i) => [
        i < 4 && one.ask('DELETE', `/api/projects/${project.id}/members/${invited[i]!}`, { as: ada }),
        i < 4 && other.ask('DELETE', `/api/projects/${project.id}/members/${invited[i]!}`, { as }),
      ]),
    )
    const left = made(await other.ask<Member[]>('GET', `/api/projects/${project.id}/members`, { as: ada }))
    expect(left.map(({ email }) => email).toSorted()).toEqual(
      people
        .slice(4)
        .map(({ email }) => email)
        .toSorted(),
    )
    expect(await one.call('verify')).toEqual([])
  })
})

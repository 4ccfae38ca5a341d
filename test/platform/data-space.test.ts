import { expect, it } from 'vitest'
import { filesSuite, upload } from './files.js'
import { newMember, newProject, newTask, patchTask } from './work.js'
import type { Reply, SignedIn, World } from './world.js'

const LIMIT = 60_000
const REFUSED = { error: `Your plan has ${LIMIT} bytes of data, and this would be more` }

const usedBy = async (world: World, as: SignedIn): Promise<number> =>
  (await world.ask<{ data_bytes_used: number }>('GET', '/api/account/limits', { as })).body.data_bytes_used

/** Makes more of something until it is refused. @returns how often it was not */
async function untilRefused(make: () => Promise<Reply<unknown>>): Promise<number> {
  for (let made = 0; made < 200; made++) {
    const { status, body } = await make()
    if (status === 200) continue
    expect([status, body]).toEqual([403, REFUSED])
    return made
  }
  throw new Error('It was never refused')
}

/** Everything that users can make, as somebody who makes as much as possible does. */
const kinds: [name: string, prepare: (world: World, as: SignedIn) => Promise<() => Promise<Reply<unknown>>>][] = [
  [
    'messages',
    async (world, as) => {
      const { id } = await newProject(world, as)
      const body = { text: 'x'.repeat(1_000) }
      return () => world.ask('POST', `/api/projects/${id}/conversation/messages`, { as, body })
    },
  ],
  ['projects', async (world, as) => () => world.ask('POST', '/api/projects', { as, body: { name: 'p' } })],
  [
    'descriptions of projects',
    async (world, as) => {
      const { id } = await newProject(world, as)
      let length = 0
      return () => {
        const body = { description: 'x'.repeat((length += 430)) }
        return world.ask('PATCH', `/api/projects/${id}`, { as, body })
      }
    },
  ],
  [
    'tasks',
    async (world, as) => {
      const { id: projectId } = await newProject(world, as)
      return () => world.ask('POST', '/api/tasks', { as, body: { projectId, title: 't' } })
    },
  ],
  [
    'revisions',
    async (world, as) => {
      const { id } = await newTask(world, as, (await newProject(world, as)).id)
      let count = 0
      return () => patchTask(world, as, id, { output: `${count++}${'é'.repeat(1_000)}` })
    },
  ],
  ['sessions', async (world, as) => () => world.ask('POST', '/api/sessions', { as, body: { metadata: { a: 'x' } } })],
  ['keys', async (world, as) => () => world.newKey(as, { name: 'k' })],
  ['empty files', async (world, as) => () => upload(world, as, '')],
]

filesSuite(
  'space for data',
  (world) => {
    const used = (as: SignedIn): Promise<number> => usedBy(world(), as)
    const verified = async () => expect(await world().call('verify')).toEqual([])

    it.each(kinds)('threat 47: a store that one user fills, by %s', async (_, prepare) => {
      const as = await world().signedIn('developer')
      const make = await prepare(world(), as)
      expect(await untilRefused(make)).toBeGreaterThan(5)
      expect(await used(as)).toBeLessThanOrEqual(LIMIT)
      expect(await used(as)).toBeGreaterThan(LIMIT * 0.8)
      await verified()
      // It is the own space that is full, and what is there can be read.
      const other = await world().signedIn('developer')
      expect((await (await prepare(world(), other))()).status).toBe(200)
      expect((await world().ask('GET', '/api/projects', { as })).status).toBe(200)
    })

    it.each(kinds)('threat 47: a store that one user fills, by %s at once', async (_, prepare) => {
      const as = await world().signedIn('developer')
      const make = await prepare(world(), as)
      const replies = await Promise.all(Array.from({ length: 150 }, make))
      const refused = replies.filter(({ status }) => status !== 200)
      expect(refused.length).toBeGreaterThan(0)
      for (const { status, body } of refused) expect([status, body]).toEqual([403, REFUSED])
      expect(await used(as)).toBeLessThanOrEqual(LIMIT)
      await verified()
    })

    it('threat 175: an editor who fills the space of the owner, who can still make and rotate keys', async () => {
      const owner = await world().signedIn('developer')
      const project = await newProject(world(), owner)
      const editor = await newMember(world(), owner, project.id, 'editor')
      const key = await world().newKey(owner, { name: 'k' })
      const task = await newTask(world(), editor, project.id)
      const full = { error: REFUSED.error.replace(String(LIMIT), String(LIMIT * 0.9)) }
      const body = { text: 'x'.repeat(1_000) }
      const writes = [
        () => world().ask('POST', '/api/tasks', { as: editor, body: { projectId: project.id, title: 't' } }),
        () => world().ask('POST', `/api/projects/${project.id}/conversation/messages`, { as: editor, body }),
        () => patchTask(world(), editor, task.id, { draft_output: 'x'.repeat(70_000) }),
      ]
      for (const write of writes) {
        let reply = await write()
        for (let i = 0; i < 200 && reply.status === 200; i++) reply = await write()
        expect([reply.status, reply.body]).toEqual([403, full])
      }
      // With the replies, which are stored whole.
      expect(await used(owner)).toBeLessThan(LIMIT * 0.95)
      const { id } = key.body
      expect((await world().ask('POST', `/api/keys/${id}/rotate`, { as: owner, body: {} })).status).toBe(200)
      expect((await world().newKey(owner, { name: 'k' })).status).toBe(200)
      await verified()
    })

    it('gives back what is removed', async () => {
      const as = await world().signedIn()
      const { id } = await newProject(world(), as)
      const path = `/api/projects/${id}/conversation`
      const say = () => world().ask('POST', `${path}/messages`, { as, body: { text: 'x'.repeat(1_000) } })
      expect((await say()).status).toBe(200)
      expect((await world().ask('DELETE', path, { as })).status).toBe(204)
      const cleared = await used(as)
      const first = await untilRefused(say)
      expect((await world().ask('DELETE', path, { as })).status).toBe(204)
      expect(await used(as)).toBe(cleared)
      expect(await untilRefused(say)).toBe(first)
      const task = await world()
        .ask<{ id: string }>('DELETE', path, { as })
        .then(() => newTask(world(), as, id))
      for (const output of ['one', 'two', null, 'three'])
        expect((await patchTask(world(), as, task.id, { output, draft_output: 'x' })).status).toBe(200)
      const { body } = await upload(world(), as, '')
      await verified()
      expect((await world().ask('DELETE', `/api/user-files/${body.id}?permanent=true`, { as })).status).toBe(204)
      expect((await world().ask('DELETE', `/api/projects/${id}`, { as })).status).toBe(204)
      expect(await used(as)).toBe(0)
      await verified()
    })

    it('lets a full user make things smaller', async () => {
      const as = await world().signedIn()
      const { id } = await newTask(world(), as, (await newProject(world(), as)).id)
      await patchTask(world(), as, id, { draft_output: 'x'.repeat(10_000) })
      await untilRefused(() => world().ask('POST', '/api/sessions', { as, body: {} }))
      expect((await patchTask(world(), as, id, { draft_output: 'x'.repeat(20_000) })).status).toBe(403)
      expect((await patchTask(world(), as, id, { draft_output: null })).status).toBe(200)
      expect((await patchTask(world(), as, id, { draft_output: 'x' })).status).toBe(200)
    })

    it('stores a reply that was begun as a whole', async () => {
      const as = await world().signedIn()
      const { id } = await newProject(world(), as)
      const path = `/api/projects/${id}/conversation`
      const headers = { accept: 'text/event-stream' }
      const { status } = await world().ask('POST', `${path}/messages`, { as, headers, body: { text: 'Hi' } })
      expect(status).toBe(200)
      const { body } = await world().ask<{ messages: { text: string }[] }>('GET', path, { as })
      expect(body.messages).toHaveLength(2)
      await verified()
      expect((await world().ask('DELETE', `/api/projects/${id}`, { as })).status).toBe(204)
      expect(await used(as)).toBe(0)
    })

    it('threat 47: a store that one user fills, by metadata of sessions', async () => {
      const as = await world().signedIn()
      const create = (length: number) =>
        world().ask('POST', '/api/sessions', { as, body: { metadata: { a: 'x'.repeat(length - '{"a":""}'.length) } } })
      expect((await create(16_384)).status).toBe(200)
      const { status, body } = await create(16_385)
      expect([status, body]).toEqual([400, { error: 'metadata must be at most 16384 characters of JSON' }])
    })
  },
  { PLAN_DATA_GB: String(LIMIT / 1e9) },
)

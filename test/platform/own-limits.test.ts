import { expect, it } from 'vitest'
import { newMember, newProject, newTask } from './work.js'
import type { Reply, SignedIn, World } from './world.js'
import { chat, worldSuite } from './world.js'

const MINUTE = 60_000

/** Statuses and what was answered to those that were refused. */
const outcome = (replies: Reply<object>[]) => ({
  statuses: replies.map(({ status }) => status).toSorted((one, other) => one - other),
  refusals: [...new Set(replies.filter(({ status }) => status !== 200).map(({ body }) => JSON.stringify(body)))],
})
const atOnce = <T>(count: number, act: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, act))

/** The highest numbers of what users make for themselves. */
worldSuite(
  'limits of what users make',
  (world) => {
    const ask: World['ask'] = (...request) => world().ask(...request)
    const newKey = (as: SignedIn, body: object = { name: 'k' }) => world().newKey(as, body)
    const three = (kind: string) => ({
      statuses: [200, 200, 200, 403, 403, 403],
      refusals: [JSON.stringify({ error: `Your plan has 3 ${kind}, and this would be more` })],
    })
    const verified = async () => expect(await world().call('verify')).toEqual([])

    it('threat 35: limits that users raise themselves, number of keys', async () => {
      const dev = await world().signedIn('developer')
      const made = await atOnce(6, () => newKey(dev))
      expect(outcome(made)).toEqual(three('keys'))
      const { id } = made.find(({ status }) => status === 200)!.body
      // Once revoked, and once more, is room for one.
      for (let i = 0; i < 2; i++) expect((await ask('DELETE', `/api/keys/${id}`, { as: dev })).status).toBe(204)
      expect([(await newKey(dev)).status, (await newKey(dev)).status]).toEqual([200, 403])
      expect((await newKey(await world().signedIn('developer'))).status).toBe(200)
      await verified()
    })

    it('threat 35: limits that users raise themselves, rate of a key, by the role', async () => {
      const dev = await world().signedIn('developer')
      expect((await newKey(dev)).body.rate_limit).toBe(50)
      expect((await newKey(dev, { name: 'k', rateLimit: 50 })).body.rate_limit).toBe(50)
      for (const name of ['rateLimit', 'rate_limit']) {
        const { status, body } = await newKey(dev, { name: 'k', [name]: 51 })
        expect([status, body]).toEqual([403, { error: 'Your keys may have 50 requests per minute at most' }])
      }
      const admin = await world().signedIn('admin')
      expect((await newKey(admin, { name: 'k', rateLimit: 1_000_000 })).body.rate_limit).toBe(1_000_000)
      expect((await newKey(admin, { name: 'k', rateLimit: 1_000_001 })).status).toBe(400)
      expect((await newKey(admin)).body.rate_limit).toBe(60)
      const limits = async (as: SignedIn) => (await ask('GET', '/api/account/limits', { as })).body
      expect(await limits(dev)).toMatchObject({ keys: 3, key_rate_limit: 50, sessions: 3, tasks: 3 })
      expect(await limits(admin)).toMatchObject({ keys: 1_000, key_rate_limit: 1_000_000 })
      expect(await limits(await world().signedIn())).toMatchObject({ keys: 0, key_rate_limit: 0, role: 'user' })
    })

    it('threat 35: limits that users raise themselves, rate of all their keys together', async () => {
      const use = async (keys: string[], count: number) => {
        const replies = await Promise.all(
          Array.from({ length: count }, (_, i) => ask<object>('GET', '/v1/models', { as: keys[i % keys.length]! })),
        )
        return {
          served: replies.filter(({ status }) => status === 200).length,
          refused: replies.filter(({ status }) => status === 429),
        }
      }
      const dev = await world().signedIn('developer')
      const [one, two, slow] = [await newKey(dev), await newKey(dev), await newKey(dev, { name: 'k', rateLimit: 1 })]
      // What a key of its own limit is refused counts for no other.
      expect((await use([slow.body.key!], 60)).served).toBe(1)
      const { served, refused } = await use([one.body.key!, two.body.key!], 60)
      expect([served, refused.length]).toEqual([49, 11])
      const message = 'Your keys are limited to 50 requests per minute together'
      expect(refused[0]!.body).toEqual({
        error: { type: 'rate_limit_error', message, code: 'rate_limit_exceeded' },
      })
      expect(refused[0]!.headers.get('retry-after')).toMatch(/^[1-9]\d?$/)
      // Nor is it got round by another key in place of one.
      await ask('DELETE', `/api/keys/${slow.body.id}`, { as: dev })
      expect((await use([(await newKey(dev)).body.key!], 1)).served).toBe(0)
      const other = await world().signedIn('developer')
      expect((await use([(await newKey(other)).body.key!], 50)).served).toBe(50)
      await world().advance(MINUTE)
      expect((await use([one.body.key!], 50)).served).toBe(50)
    })

    it('threat 35: limits that users raise themselves, rate of a key that was made in a higher role', async () => {
      const [admin, other] = [await world().signedIn('admin'), await world().signedIn('admin')]
      const { key } = (await newKey(other, { name: 'k', rateLimit: 1_000 })).body
      const served = async () => {
        const replies = await Promise.all(Array.from({ length: 60 }, () => ask('GET', '/v1/models', { as: key! })))
        return replies.filter(({ status }) => status === 200).length
      }
      expect(await served()).toBe(60)
      await ask('PATCH', `/api/users/${other.id}`, { as: admin, body: { role: 'developer' } })
      await world().advance(MINUTE)
      expect(await served()).toBe(50)
    })

    it('threat 35: limits that users raise themselves, number of sessions', async () => {
      const ada = await world().signedIn()
      const make = () => ask<object>('POST', '/api/sessions', { as: ada, body: {} })
      expect(outcome(await atOnce(6, make))).toEqual(three('sessions'))
      expect((await ask<object[]>('GET', '/api/sessions', { as: ada })).body).toHaveLength(3)
      await verified()
    })

    it('threat 35: limits that users raise themselves, number of tasks in all projects', async () => {
      const ada = await world().signedIn()
      const projects = [(await newProject(world(), ada)).id, (await newProject(world(), ada)).id]
      let i = 0
      const make = () =>
        ask<object>('POST', '/api/tasks', { as: ada, body: { projectId: projects[++i % 2], title: 't' } })
      expect(outcome(await atOnce(6, make))).toEqual(three('tasks'))
      await verified()
      // The tasks of a project that is deleted are no more.
      const { length } = (await ask<object[]>('GET', `/api/tasks?projectId=${projects[0]}`, { as: ada })).body
      expect((await ask('DELETE', `/api/projects/${projects[0]}`, { as: ada })).status).toBe(204)
      await verified()
      projects[0] = projects[1]!
      expect(outcome(await atOnce(3, make)).statuses.filter((status) => status === 200)).toHaveLength(length)
      await verified()
    })

    it('counts what a store of an earlier version has', async () => {
      const dev = await world().signedIn('developer')
      const project = await newProject(world(), dev)
      for (let i = 0; i < 2; i++) {
        await newKey(dev)
        await ask('POST', '/api/sessions', { as: dev, body: {} })
        await newTask(world(), dev, project.id)
      }
      await world().call('del', 'owned', dev.id)
      await world().call('del', 'in-project', project.id, 'task-count')
      await verified()
      const [key] = (await ask<{ id: string }[]>('GET', '/api/keys', { as: dev })).body
      expect((await ask('DELETE', `/api/keys/${key!.id}`, { as: dev })).status).toBe(204)
      const task = () => ask<object>('POST', '/api/tasks', { as: dev, body: { projectId: project.id, title: 't' } })
      const session = () => ask<object>('POST', '/api/sessions', { as: dev, body: {} })
      expect([await newKey(dev), await newKey(dev), await newKey(dev)].map(({ status }) => status)).toEqual([
        200, 200, 403,
      ])
      expect([await task(), await task(), await session(), await session()].map(({ status }) => status)).toEqual([
        200, 403, 200, 403,
      ])
      await verified()
    })

    it('threat 175: an editor leaves the owner a task', async () => {
      const owner = await world().signedIn()
      const { id: projectId } = await newProject(world(), owner)
      const editor = await newMember(world(), owner, projectId, 'editor')
      const make = async (as: SignedIn) =>
        (await ask('POST', '/api/tasks', { as, body: { projectId, title: 't' } })).status
      expect([await make(editor), await make(editor), await make(editor)]).toEqual([200, 200, 403])
      expect([await make(owner), await make(owner)]).toEqual([200, 403])
    })

    it('threat 35: limits that users raise themselves, replies count as requests of the gateway for browsers', async () => {
      const [ada, bob] = [await world().signedIn(), await world().signedIn()]
      const { id } = await newProject(world(), ada)
      const before = world().upstream.requests.length
      const headers = { accept: 'text/event-stream' }
      const say = () =>
        ask<object>('POST', `/api/projects/${id}/conversation/messages`, { as: ada, body: { text: 'Hi' }, headers })
      const again = () => ask<object>('POST', `/api/projects/${id}/conversation/reply`, { as: ada })
      const complete = (as: SignedIn) => ask<object>('POST', '/api/gateway/v1/chat/completions', { as, body: chat })
      const statuses = [(await say()).status, (await again()).status, (await complete(ada)).status]
      expect(statuses).toEqual([200, 200, 200])
      const messages = async () =>
        (await ask<{ messages: object[] }>('GET', `/api/projects/${id}/conversation`, { as: ada })).body.messages
      const stored = await messages()
      for (const refused of [await say(), await again(), await say()]) {
        expect([refused.status, refused.body]).toEqual([429, { error: 'You are limited to 3 requests per minute' }])
        expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d?$/)
      }
      expect((await complete(ada)).status).toBe(429)
      expect([await messages(), world().upstream.requests.length - before]).toEqual([stored, 3])
      // A message that asks for no reply is none, and others have a count of their own.
      const plain = { as: ada, body: { text: 'Hi' } }
      expect((await ask('POST', `/api/projects/${id}/conversation/messages`, plain)).status).toBe(200)
      expect((await complete(bob)).status).toBe(200)
      await world().advance(MINUTE)
      expect((await again()).status).toBe(200)
    })
  },
  {
    DEVELOPER_KEYS: '3',
    DEVELOPER_KEY_RATE_LIMIT: '50',
    PLAN_SESSIONS: '3',
    PLAN_TASKS: '3',
    USER_RATE_LIMIT: '3',
  },
)

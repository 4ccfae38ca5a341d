import { uuidv7 } from '@turnpike/core/helpers'
import { expect, it } from 'vitest'
import { newMember, newProject, newTask, patchTask } from './work.js'
import { worldSuite } from './world.js'

/** A token that nobody signed. */
const madeUpToken = (id: number): string =>
  [
    { alg: 'ES256', typ: 'at+jwt', kid: 'x' },
    { iss: 'turnpike', aud: 'turnpike', sub: `${id}`, exp: 9e9 },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.') + `.${Buffer.alloc(64, 1).toString('base64url')}`

worldSuite(
  'requests a minute at /api',
  (world) => {
    it('threat 47: a store that one user fills, by requests without end', async () => {
      const [ada, bob] = [await world().signedIn(), await world().signedIn()]
      const get = (as: typeof ada) => world().ask('GET', '/api/account', { as })
      const replies = []
      for (let i = 0; i < 25; i++) replies.push(await get(ada))
      expect(replies.map(({ status }) => status)).toEqual([...Array(20).fill(200), ...Array(5).fill(429)])
      expect(replies[20]!.body).toEqual({ error: 'You are limited to 20 requests per minute' })
      expect(replies[20]!.headers.get('retry-after')).toMatch(/^[1-9]\d?$/)
      // Nothing is made either, and others have a count of their own.
      expect((await world().ask('POST', '/api/projects', { as: ada, body: { name: 'p' } })).status).toBe(429)
      expect((await get(bob)).status).toBe(200)
      await world().advance(60_000)
      expect((await get(ada)).status).toBe(200)
    })

    it('threat 192: a stolen session that uses up the minute in which its owner would end it', async () => {
      await world().advance(60_000)
      const stolen = await world().signedIn()
      const status = async (method: string, path: string, as = stolen) =>
        (await world().ask(method, path, { as })).status
      for (let i = 0; i < 21; i++) await Promise.all([status('GET', '/api/account'), status('GET', '/api/tokens')])
      expect([await status('GET', '/api/account'), await status('GET', '/api/tokens')]).toEqual([429, 429])
      const own = await world().signIn(stolen.email)
      expect(await status('GET', '/api/account', own)).toBe(429)
      for (const path of ['/api/account/sign-ins', '/api/tokens']) expect(await status('GET', path, own)).toBe(200)
      expect(await status('DELETE', '/api/auth?scope=others', own)).toBe(204)
      expect(await status('GET', '/api/tokens')).toBe(401)
    })

    it('threat 192: sign-ins without end, each with a minute of its own for what ends them', async () => {
      await world().advance(60_000)
      const user = await world().signedIn()
      const statuses: number[] = []
      for (let i = 0; i < 6; i++) {
        const as = i === 0 ? user : await world().signIn(user.email)
        for (let j = 0; j < 20; j++) statuses.push((await world().ask('GET', '/api/tokens', { as })).status)
      }
      expect(statuses).toEqual([...Array(80).fill(200), ...Array(40).fill(429)])
    })

    it('threat 211: an editor whose tasks use up the minute of the owner, who can still remove the editor, and then the tasks', async () => {
      await world().advance(60_000)
      const owner = await world().signedIn()
      const { id } = await newProject(world(), owner)
      const editor = await newMember(world(), owner, id, 'editor')
      const task = await newTask(world(), editor, id)
      expect((await patchTask(world(), editor, task.id, { draft_output: 'x'.repeat(1_000_000) })).status).toBe(200)
      const ask = (method: string, path: string, as = owner) => world().ask<{ id: string }[]>(method, path, { as })
      while ((await ask('GET', `/api/tasks?projectId=${id}`)).status === 200);
      for (const path of ['/api/tasks', '/api/projects']) expect((await ask('GET', path)).status).toBe(429)
      // All else goes on, and the editor is removed also where other requests have used up their minute.
      expect((await world().ask('POST', '/api/tasks', { as: owner, body: { projectId: id, title: 'A' } })).status).toBe(
        200,
      )
      while ((await ask('GET', '/api/account')).status === 200);
      const members = await ask('GET', `/api/projects/${id}/members`)
      expect(members.status).toBe(200)
      expect((await ask('DELETE', `/api/projects/${id}/members/${members.body[0]!.id}`)).status).toBe(204)
      await world().advance(60_000)
      expect((await ask('DELETE', `/api/tasks/${task.id}`, editor)).status).toBe(403)
      expect((await ask('DELETE', `/api/tasks/${task.id}`)).status).toBe(204)
      expect((await ask('GET', `/api/tasks?projectId=${id}`)).body).toHaveLength(1)
    })

    it('threat 59: requests that read much, which count as several', async () => {
      const [ada, bob] = [await world().signedIn(), await world().signedIn()]
      const { id } = await newTask(world(), ada, (await newProject(world(), ada)).id)
      // 1 MB of JSON counts as three more.
      expect((await patchTask(world(), ada, id, { output: 'x'.repeat(1_000_000) })).status).toBe(200)
      const status = async (as = ada) => (await world().ask('GET', `/api/tasks/${id}/status`, { as })).status
      const statuses: number[] = []
      for (let i = 0; i < 7; i++) statuses.push(await status())
      expect([...statuses, await status(bob)]).toEqual([...Array(6).fill(200), 429, 404])
      // The answer about the cost is short, and made from the task and its revision; the others count as it, too.
      for (const [path, answered] of [
        ['', 4],
        ['/revisions', 3],
        ['/spend', 3],
      ] as const) {
        await world().advance(60_000)
        let count = 0
        while ((await world().ask('GET', `/api/tasks/${id}${path}`, { as: ada })).status === 200) count++
        expect([path, count]).toEqual([path, answered])
      }
      // Of those at once, 16 are worked on at most, and those that wait are counted by then.
      await world().advance(60_000)
      const together = await Promise.all(Array.from({ length: 20 }, () => status()))
      const answered = together.filter((one) => one === 200).length
      expect(together.filter((one) => one === 429)).toHaveLength(20 - answered)
      expect(answered).toBeGreaterThan(0)
      expect(answered).toBeLessThanOrEqual(16)
    })

    it('threat 59: what waits for a user, which counts by the projects that are read for it', async () => {
      await world().advance(60_000)
      const [ada, bob] = [await world().signedIn(), await world().signedIn()]
      for (let i = 0; i < 9; i++) {
        const { id } = await newProject(world(), ada, { description: 'x'.repeat(60_000) })
        const body = { email: bob.email, role: 'reader' }
        expect((await world().ask('PUT', `/api/projects/${id}/members`, { as: ada, body })).status).toBe(200)
      }
      // 540 kB count as two more.
      let count = 0
      while ((await world().ask('GET', '/api/account/shares', { as: bob })).status === 200) count++
      expect(count).toBe(11)
    })

    it('threat 59: what is read for an error, which counts as what is read for an answer', async () => {
      await world().advance(60_000)
      const [ada, bob] = [await world().signedIn(), await world().signedIn()]
      const { id } = await newTask(world(), ada, (await newProject(world(), ada)).id)
      await patchTask(world(), ada, id, { draft_output: 'x'.repeat(1_000_000) })
      const stale = { body: { status: 'done' }, headers: { 'if-match': '"x"' } }
      for (const [method, path, as, expected, more] of [
        ['GET', `/api/tasks/${id}`, bob, 404, {}],
        ['GET', `/api/results/${id}`, ada, 404, {}],
        ['PATCH', `/api/tasks/${id}`, ada, 412, stale],
      ] as const) {
        await world().advance(60_000)
        const ask = async () => (await world().ask(method, path, { as, ...more })).status
        const statuses = []
        for (let i = 0; i < 8; i++) statuses.push(await ask())
        // 1 MB of JSON counts as three more.
        expect([path, statuses]).toEqual([path, [...Array(7).fill(expected), 429]])
      }
    })

    it('threat 94: a page of a list whose filter no task passes, which counts by what was read for it', async () => {
      await world().advance(60_000)
      const ada = await world().signedIn()
      const { id } = await newProject(world(), ada)
      const entry = { project_id: id, assigned_agent_id: 1 }
      await Promise.all(
        Array.from({ length: 2_500 }, (_, i) =>
          world().call('set', ['user-tasks', ada.id, 'scheduled', uuidv7(i + 1)], entry),
        ),
      )
      // 2,500 entries count as two more.
      for (const filter of ['assignedAgentId=9', `projectId=${id}&assignedAgentId=9`]) {
        await world().advance(60_000)
        let count = 0
        const page = `/api/tasks?${filter}&limit=1`
        while ((await world().ask('GET', page, { as: ada })).status === 200) count++
        expect([filter, count]).toEqual([filter, 11])
      }
    })

    it('threat 219: a page of another site does not use up what people at the address of its visitor have', async () => {
      await world().advance(60_000)
      const ask = async (more: object, times: number): Promise<number[]> => {
        const statuses: number[] = []
        for (let i = 0; i < times; i++) {
          const headers = { 'x-forwarded-for': '2001:db8:0:7::1', ...more }
          statuses.push((await world().ask('GET', '/api/auth/options', { headers })).status)
        }
        return [...new Set(statuses)]
      }
      const page = { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'empty' }
      expect(await ask(page, 32)).toEqual([200, 429])
      expect(await ask({}, 30)).toEqual([200])
      // A person comes from another site, such as an identity provider.
      expect(await ask({ ...page, 'sec-fetch-dest': 'document' }, 30)).toEqual([200])
      expect(await ask({ 'sec-fetch-site': 'same-origin' }, 1)).toEqual([429])
    })

    it('threat 47: a store that one user fills, by requests without a user, which count by their address', async () => {
      await world().advance(60_000)
      const ada = await world().signedIn('user', true)
      const anonymous = (address: string, as?: string) =>
        world().ask<object>('GET', as === undefined ? '/api/openapi.json' : '/api/account', {
          as,
          headers: { 'x-forwarded-for': address },
        })
      const [open, invalid] = [[] as number[], [] as number[]]
      for (let i = 0; i < 15; i++) open.push((await anonymous('2001:db8::1')).status)
      const invalidAt = async (path: string, credential: object) =>
        (await world().ask('GET', path, { headers: { 'x-forwarded-for': '2001:db8::2', ...credential } })).status
      for (let i = 0; i < 5; i++) {
        invalid.push((await anonymous('2001:db8::2', 'no token')).status)
        invalid.push(await invalidAt('/api/account', { cookie: `session=${i}; __Host-session=${i}` }))
        invalid.push(await invalidAt('/api/account', { authorization: `Bearer ${madeUpToken(i)}` }))
        invalid.push(await invalidAt('/api/gateway/v1/models', {}))
      }
      expect([open, invalid]).toEqual([Array(15).fill(200), [...Array(15).fill(401), ...Array(5).fill(429)]])
      expect((await anonymous('2001:db8:0:1::1')).status).toBe(200)
      // So does whoever is signed in and refused: for another scope, or as a page of another site.
      const body = { name: 'reader', scopes: ['account:read'] }
      const { token } = (await world().ask<{ token: string }>('POST', '/api/tokens', { as: ada, body })).body
      const byToken = { authorization: `Bearer ${token}` }
      const byPage = { cookie: ada.cookie!, 'sec-fetch-site': 'same-site' }
      const refused = async (method: string, path: string, credential: object) =>
        (await world().ask(method, path, { headers: { 'x-forwarded-for': '2001:db8:0:3::1', ...credential } })).status
      for (const path of ['/api/projects', '/api/gateway/v1/chat/completions']) {
        const statuses: number[] = []
        for (let i = 0; i < 17; i++)
          statuses.push(await refused('POST', path, byToken), await refused('POST', path, byPage))
        expect(statuses).toEqual([...Array(30).fill(403), ...Array(4).fill(429)])
        await world().advance(60_000)
      }
      // Whoever is signed in is not counted by the address.
      const headers = { 'x-forwarded-for': '2001:db8::2' }
      expect((await world().ask('GET', '/api/account', { as: ada, headers })).status).toBe(200)
    })
  },
  { API_RATE_LIMIT: '20', API_ADDRESS_RATE_LIMIT: '30', TRUSTED_HOPS: '1' },
)

worldSuite(
  'lists that have begun, in a minute at /api',
  (world) => {
    it('threat 176: use up half of it, go on in the next, and keep their user from nothing', async () => {
      const before = await world().signedIn()
      const { id: projectId } = await newProject(world(), before)
      for (let i = 0; i < 14; i++) {
        const { id } = await newTask(world(), before, projectId)
        await patchTask(world(), before, id, { output: 'x'.repeat(1_000_000) })
        if (i % 4 === 3) await world().advance(60_000)
      }
      await world().advance(60_000)
      const ada = await world().signIn(before.email)
      const state = { whole: 0 }
      const lists = [1, 2].map(async () => {
        const { status, body } = await world().ask<unknown[]>('GET', '/api/tasks', { as: ada })
        state.whole++
        return [status, body.length]
      })
      for (let i = 0; i < 5; i++) {
        await new Promise((resolve) => setTimeout(resolve, 200))
        expect((await world().ask('GET', '/api/account', { as: ada })).status).toBe(200)
      }
      expect(state.whole).toBe(0)
      while (state.whole < 2) {
        await world().advance(60_000)
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
      expect(await Promise.all(lists)).toEqual([
        [200, 14],
        [200, 14],
      ])
    })
  },
  { API_RATE_LIMIT: '120' },
)

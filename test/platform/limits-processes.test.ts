import { beforeAll, expect, it } from 'vitest'
import { newProject } from './work.js'
import type { SignedIn, World } from './world.js'
import { chat, pairSuite } from './world.js'

const LIMITS = {
  DEVELOPER_KEYS: '5',
  DEVELOPER_KEY_RATE_LIMIT: '8',
  PLAN_SESSIONS: '5',
  PLAN_TASKS: '5',
  USER_RATE_LIMIT: '5',
}

pairSuite(
  'roles and limits',
  (pair) => {
    let admin: SignedIn
    beforeAll(async () => {
      admin = await pair()[0].signedIn('admin')
    })
    /** The statuses of 12 requests at once, in both processes in turn, how many of each. */
    const statuses = async (act: (world: World) => Promise<{ status: number }>) => {
      const replies = await Promise.all(Array.from({ length: 12 }, (_, i) => act(pair()[i % 2]!)))
      return Object.fromEntries(
        [200, 403, 429].map((status) => [status, replies.filter((reply) => reply.status === status).length]),
      )
    }

    it('threat 34: keys of somebody who was demoted, are refused in the other process within 5 seconds', async () => {
      const [here, there] = pair()
      const dev = await here.signedIn('developer')
      const { key } = (await here.newKey(dev)).body
      const give = (role: string) => here.ask('PATCH', `/api/users/${dev.id}`, { as: admin, body: { role } })
      const uses = () =>
        Promise.all(pair().map(async (world) => (await world.ask('GET', '/v1/models', { as: key! })).status))
      expect(await uses()).toEqual([200, 200])
      expect((await give('user')).status).toBe(200)
      await there.advance(5_000)
      expect(await uses()).toEqual([401, 401])
      // The role itself is never kept.
      const up = await there.ask('PATCH', '/api/account/role', { as: dev, body: { role: 'developer' } })
      expect([up.status, (await there.newKey(dev)).status]).toEqual([403, 403])
      expect((await give('developer')).status).toBe(200)
      expect(await uses()).toEqual([200, 200])
    })

    it('threat 75: tokens beyond those of a minute, at once in two processes', async () => {
      const { key } = (await pair()[0]!.newKey(admin, { name: 'k', tokenLimit: 350 })).body
      let release!: () => void
      const held = new Promise<void>((resolve) => (release = resolve))
      const body = async function* () {
        await held
        yield '{}'
      }
      for (const world of pair()) world.fault = () => ({ status: 500, headers: {}, body: body() })
      const seen: number[] = []
      const send = async (i: number, max_tokens: number) => {
        const { status } = await pair()[i % 2]!.ask('POST', '/v1/chat/completions', {
          as: key!,
          body: { ...chat, max_tokens },
        })
        seen.push(status)
      }
      const all = Array.from({ length: 12 }, (_, i) => send(i, 99))
      try {
        await expect.poll(() => seen, { timeout: 5_000 }).toEqual(Array(9).fill(429))
      } finally {
        release()
        await Promise.all(all)
        for (const world of pair()) world.fault = undefined
      }
      // What failed was given back, in both.
      expect(seen.slice(9)).toEqual([502, 502, 502])
      await expect
        .poll(
          async () =>
            (await pair()[1]!.ask('POST', '/v1/chat/completions', { as: key!, body: { ...chat, max_tokens: 340 } }))
              .status,
        )
        .toBe(200)
    })

    it('threat 35: limits that users raise themselves, at once in two processes', async () => {
      const dev = await pair()[0]!.signedIn('developer')
      const { id } = await newProject(pair()[0]!, dev)
      const five = { 200: 5, 403: 7, 429: 0 }
      const { key } = (await pair()[0]!.newKey(dev)).body
      expect(await statuses((world) => world.newKey(dev))).toEqual({ 200: 4, 403: 8, 429: 0 })
      const [other] = (await pair()[0]!.ask<{ id: string }[]>('GET', '/api/keys', { as: dev })).body
      await pair()[0]!.ask('DELETE', `/api/keys/${other!.id}`, { as: dev })
      const keys = [key!, (await pair()[0]!.newKey(dev)).body.key!]
      let used = 0
      const use = (world: World) => world.ask('GET', '/v1/models', { as: keys[used++ % 3 === 0 ? 1 : 0]! })
      expect(await statuses(use)).toEqual({ 200: 8, 403: 0, 429: 4 })
      expect(await statuses((world) => world.ask('POST', '/api/sessions', { as: dev, body: {} }))).toEqual(five)
      const task = { as: dev, body: { projectId: id, title: 't' } }
      expect(await statuses((world) => world.ask('POST', '/api/tasks', task))).toEqual(five)
      const say = { as: dev, body: { text: 'Hi' }, headers: { accept: 'text/event-stream' } }
      const path = `/api/projects/${id}/conversation/messages`
      expect(await statuses((world) => world.ask('POST', path, say))).toEqual({ 200: 5, 403: 0, 429: 7 })
      expect(await pair()[1]!.call('verify')).toEqual([])
    })
  },
  LIMITS,
)

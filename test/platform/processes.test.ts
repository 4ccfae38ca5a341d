import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endEngines, engines } from '../support/engines.js'
import { needs } from '../support/needs.js'
import { thorough } from '../support/scope.js'
import type { Reply, SignedIn, World } from './world.js'
import { PASSWORD, startWorld } from './world.js'

interface Session {
  access_token: string
  refresh_token: string
}

/** The stores, and how many processes share one. Only Redis outside of `npm run test:all`. */
const stores = [
  ...(thorough ? [{ name: 'memory', processes: 1, needed: [], create: async () => 'memory' }] : []),
  ...engines
    .filter(({ name }) => name === 'redis' || (thorough && name === 'postgres'))
    .map((engine) => ({ ...engine, processes: 2 })),
]

describe.each(stores)('processes on $name', ({ needed, processes, create }) => {
  describe(`${processes} on one store`, needs(...needed), () => {
    const worlds: World[] = []
    let storage: string
    let admin: SignedIn
    beforeAll(async () => {
      storage = await create()
      // One after the other: only the first makes the signing keys.
      for (let i = 0; i < processes; i++) worlds.push(await startWorld(storage, { TRUSTED_HOPS: '1' }))
      admin = await worlds[0]!.signedIn('admin')
    })
    afterAll(async () => {
      await Promise.all(worlds.map((world) => world.kill()))
      await endEngines()
    })
    /** The processes in turn. */
    const world = (i: number): World => worlds[i % worlds.length]!
    const spread = <T>(count: number, act: (world: World, i: number) => Promise<T>): Promise<T[]> =>
      Promise.all(Array.from({ length: count }, (_, i) => act(world(i), i)))

    /** Another address each time, so that no failures are too many for one. */
    const address = () => ({ 'x-forwarded-for': `10.0.${(++addresses / 250) | 0}.${addresses % 250}` })
    let addresses = 0
    const refresh = (at: World, refresh_token: string): Promise<Reply<Session>> =>
      at.ask('PUT', '/api/auth', { body: { refresh_token }, headers: address() })
    const signIn = (at: World, email: string): Promise<Reply<Session>> =>
      at.ask('POST', '/api/auth', {
        body: { email, password: PASSWORD, cookie: true },
        headers: { 'sec-fetch-site': 'same-origin', ...address() },
      })
    const add = (at: World, id: string, creditCoins: number): Promise<Reply<{ credit_coins: number }>> =>
      at.ask('POST', `/api/users/${id}/balance`, { as: admin, body: { creditCoins } })
    const credits = async (id: string): Promise<number> => (await add(world(1), id, 0)).body.credit_coins
    const account = async (at: World, as: string): Promise<number> =>
      (await at.ask('GET', '/api/account', { as })).status
    const remove = (at: World, id: string): Promise<Reply> => at.ask('DELETE', `/api/users/${id}`, { as: admin })

    /** What a sign-in gave is good for nothing, in any process. */
    const expectUseless = async ({ body, headers }: Reply<Session>): Promise<void> => {
      const cookie = headers.getSetCookie()[0]!.split(';', 1)[0]!
      const statuses = await Promise.all(
        worlds.map(async (at) => [
          await account(at, body.access_token),
          (await refresh(at, body.refresh_token)).status,
          (await at.ask('GET', '/api/account', { headers: { cookie } })).status,
        ]),
      )
      expect(statuses).toEqual(worlds.map(() => [401, 401, 401]))
    }

    it('answer 50 refreshes at once with one token', async () => {
      const ada = await world(0).signedIn()
      const replies = await spread(50, (at) => refresh(at, ada.refresh))
      expect(replies.map(({ status }) => status)).toEqual(Array(50).fill(200))
      expect(new Set(replies.map(({ body }) => body.refresh_token)).size).toBe(1)
      expect(await spread(2, (at, i) => account(at, replies[i]!.body.access_token))).toEqual([200, 200])
      expect((await refresh(world(1), replies[0]!.body.refresh_token)).status).toBe(200)
    })

    it('lose none of 50 changes of a balance at once', async () => {
      const { id } = await world(0).person()
      const replies = await spread(50, (at) => add(at, id, 1))
      expect(replies.map(({ body }) => body.credit_coins).toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: 50 }, (_, i) => i + 1),
      )
      expect(await credits(id)).toBe(50)
    })

    it('leave no session that works to a user who is deleted while signing in', async () => {
      let signedIn = 0
      for (let i = 0; i < (thorough ? 40 : 4); i++) {
        const { id, email } = await world(i).person()
        const signIns = spread(3, (at) => signIn(at, email))
        // A little later each time, so that it comes before and between the sign-ins, and each fourth time after them.
        const before =
          i % 4 === 3
            ? signIns
            : Array.from({ length: 3 * (i % 4) }).reduce<Promise<unknown>>(
                (reads) => reads.then(() => account(world(i), admin.access)),
                Promise.resolve(),
              )
        const [replies, removed] = await Promise.all([signIns, before.then(() => remove(world(i + 1), id))])
        expect(removed.status).toBe(204)
        const made = replies.filter(({ status }) => status === 200)
        signedIn += made.length
        for (const { status } of replies) expect([200, 401]).toContain(status)
        await Promise.all(made.map(expectUseless))
        await world(i).ask('POST', `/api/users/${id}/restore`, { as: admin })
        await Promise.all(made.map(expectUseless))
      }
      expect(signedIn).toBeGreaterThan(0)
      expect(await world(0).call('verify')).toEqual([])
    })

    it('refuse within 5 seconds what was revoked in another', async () => {
      const dev = await world(0).signedIn('developer', true)
      const { body } = await world(0).ask<{ id: string; key: string }>('POST', '/api/keys', {
        as: dev,
        body: { name: 'k' },
      })
      const statuses = () =>
        spread(2, async (at) => [
          await account(at, dev.access),
          (await at.ask('GET', '/api/account', { headers: { cookie: dev.cookie! } })).status,
          (await at.ask('GET', '/v1/models', { as: body.key })).status,
        ])
      expect(await statuses()).toEqual([
        [200, 200, 200],
        [200, 200, 200],
      ])
      expect((await world(0).ask('DELETE', `/api/keys/${body.id}`, { as: dev })).status).toBe(204)
      expect((await world(0).ask('DELETE', '/api/auth', { as: dev })).status).toBe(204)
      await world(1).advance(5_000)
      expect(await statuses()).toEqual([
        [401, 401, 401],
        [401, 401, 401],
      ])
    })

    it('refuse at once a user who was deleted in another', async () => {
      const ada = await world(0).signedIn('user', true)
      expect(await account(world(1), ada.access)).toBe(200)
      expect((await remove(world(0), ada.id)).status).toBe(204)
      expect(await account(world(1), ada.access)).toBe(401)
      expect((await world(1).ask('GET', '/api/account', { headers: { cookie: ada.cookie! } })).status).toBe(401)
    })

    it.skipIf(processes === 1)('lose nothing that was acknowledged when one is killed', async () => {
      for (let round = 0; round < (thorough ? 4 : 1); round++) {
        const people = await Promise.all(Array.from({ length: 8 }, () => world(0).person()))
        const [sent, known] = [new Map<string, number>(), new Map<string, number>()]
        const signedIn: [id: string, Reply<Session>][] = []
        const deleted = new Set<string>()
        const killed = new AbortController()
        const until = async (at: World, act: (person: { id: string; email: string }) => Promise<unknown>) => {
          for (let i = 0; !killed.signal.aborted; i++)
            try {
              await act(people[i % people.length]!)
            } catch (error) {
              // What fetch throws where the connection ends.
              expect(error).toBeInstanceOf(TypeError)
              expect(at).toBe(world(1))
              return
            }
        }
        const work = worlds.flatMap((at) => [
          until(at, async ({ id }) => {
            sent.set(id, (sent.get(id) ?? 0) + 1)
            if ((await add(at, id, 1)).status === 200) known.set(id, (known.get(id) ?? 0) + 1)
          }),
          until(at, async ({ id, email }) => {
            const reply = await signIn(at, email)
            if (reply.status === 200) signedIn.push([id, reply])
          }),
          until(at, async (person) => {
            // Every second one, once signed in.
            const { id } = person
            const isDue = people.indexOf(person) % 2 === 1 && signedIn.some(([of]) => of === id)
            if (!isDue) await account(at, admin.access)
            else if ((await remove(at, id)).status === 204) deleted.add(id)
          }),
        ])
        await expect.poll(() => deleted.size).toBeGreaterThan(round % 4)
        await world(1).kill()
        killed.abort()
        await Promise.all(work)

        expect(await world(0).call('verify')).toEqual([])
        worlds[1] = await startWorld(storage, { TRUSTED_HOPS: '1' })
        for (const { id } of people) {
          const user = await world(1).ask<{ deleted_at: string | null }>('GET', `/api/users/${id}`, { as: admin })
          // A deletion that was killed may stand without its answer.
          if (user.body.deleted_at !== null) deleted.add(id)
          const balance = await world(1).ask<{ credit_coins: number }>('GET', `/api/users/${id}/balance`, { as: admin })
          expect(balance.body.credit_coins).toBeGreaterThanOrEqual(known.get(id) ?? 0)
          expect(balance.body.credit_coins).toBeLessThanOrEqual(sent.get(id) ?? 0)
        }
        // The last sign-ins of each: those that a deletion or the kill came closest to.
        const last = people.flatMap(({ id }) => signedIn.filter(([of]) => of === id).slice(-10))
        const ofDeleted = last.filter(([id]) => deleted.has(id)).map(([, reply]) => reply)
        await Promise.all(ofDeleted.map(expectUseless))
        for (const id of deleted) await world(1).ask('POST', `/api/users/${id}/restore`, { as: admin })
        await Promise.all(ofDeleted.map(expectUseless))
        const others = last.filter(([id]) => !deleted.has(id))
        for (const [, { body }] of others) expect(await account(world(0), body.access_token)).toBe(200)
        expect([ofDeleted.length > 0, others.length > 0]).toEqual([true, true])
        expect(await world(1).call('verify')).toEqual([])
      }
    })
  })
})

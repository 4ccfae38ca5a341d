import { expect, it } from 'vitest'
import { slowBody } from '../support/slow-body.js'
import type { Key, SignedIn } from './world.js'
import { chat, worldSuite } from './world.js'

worldSuite(
  'callers who are removed while their body arrives',
  (world) => {
    const ask = <T = never>(...request: Parameters<ReturnType<typeof world>['ask']>) => world().ask<T>(...request)

    /** Sends a head, does `meanwhile`, and then sends the body. @returns the status of the answer */
    async function held(
      [method, path, body]: [string, string, object],
      headers: Record<string, string>,
      meanwhile: () => Promise<unknown>,
    ): Promise<number> {
      const { type, init } = await slowBody(body, meanwhile)
      const response = await fetch(`${world().url}${path}`, {
        method,
        headers: { 'content-type': type, ...headers },
        ...init,
      })
      await response.text()
      return response.status
    }
    const by = (token: string) => ({ authorization: `Bearer ${token}` })
    const bySignIn = ({ access }: SignedIn) => by(access)
    /** Does something the first time, and waits for that the next times. */
    const once = (act: () => Promise<unknown>) => {
      let done: Promise<unknown> | undefined
      return () => (done ??= act())
    }
    const nothing = async (): Promise<void> => undefined
    const newAdmin = () => ({ email: `${crypto.randomUUID()}@example.org`, password: 'battery staple', role: 'admin' })
    const message = { name: 'Mine', scopes: ['tasks:write'] }

    it('threat 179: administrators do nothing more once they are deleted or demoted', async () => {
      const [eve, adam, mallory] = [
        await world().signedIn('admin'),
        await world().signedIn('admin'),
        await world().signedIn('admin'),
      ]
      const removed = () => ask('DELETE', `/api/users/${mallory.id}`, { as: eve })
      const demoted = once(() => ask('PATCH', `/api/users/${adam.id}`, { as: eve, body: { role: 'user' } }))
      const key = (await world().newKey(adam)).body.key!
      expect(await held(['POST', '/api/users', newAdmin()], bySignIn(adam), nothing)).toBe(200)
      expect(
        await Promise.all([
          held(['POST', '/api/users', newAdmin()], bySignIn(mallory), removed),
          held(['PATCH', `/api/users/${adam.id}`, { role: 'admin' }], bySignIn(adam), demoted),
          held(['POST', '/v1/users', newAdmin()], by(key), demoted),
          held(['POST', '/admin/balancer/simulate', { model: 'gpt-4o-mini' }], bySignIn(adam), demoted),
        ]),
      ).toEqual([401, 403, 401, 403])
      const { role } = (await ask<{ role: string }>('GET', `/api/users/${adam.id}`, { as: eve })).body
      expect(role).toBe('user')
    })

    it('threat 179: administrators give nobody a password once they are deleted, also where it waits to be hashed', async () => {
      const [eve, mallory, ada] = [
        await world().signedIn('admin'),
        await world().signedIn('admin'),
        await world().signedIn(),
      ]
      await world().call('holdPasswords', true)
      const body = { password: 'battery staple' }
      const waiting = [
        ask('POST', '/api/users', { as: mallory, body: newAdmin() }),
        ask('PUT', `/api/users/${ada.id}/password`, { as: mallory, body }),
      ]
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect((await ask('DELETE', `/api/users/${mallory.id}`, { as: eve })).status).toBe(204)
      await world().call('holdPasswords', false)
      expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([401, 401])
      expect((await ask('GET', '/api/account', { as: ada })).status).toBe(200)
    })

    it('threat 179: a session that has ended makes no token, no key and no file', async () => {
      const ada = await world().signedIn('developer', true)
      const ended = once(() => ask('DELETE', '/api/auth?scope=global', { as: ada }))
      const form = new FormData()
      form.set('file', new File(['What was stolen'], 'a.txt', { type: 'text/plain' }))
      const [token, key, file] = await Promise.all([
        held(['POST', '/api/tokens', message], { cookie: ada.cookie!, 'sec-fetch-site': 'same-origin' }, ended),
        held(['POST', '/api/keys', { name: 'Mine' }], bySignIn(ada), ended),
        held(['POST', '/api/user-files', form], bySignIn(ada), ended),
      ])
      expect([token, key, file]).toEqual([401, 401, 401])
      const again = await world().signIn(ada.email)
      const lists = ['tokens', 'keys'].map((list) => ask<object[]>('GET', `/api/${list}`, { as: again }))
      expect((await Promise.all(lists)).map(({ body }) => body)).toEqual([[], []])
      expect((await ask('GET', '/api/user-files', { as: again })).body).toEqual([])
    })

    it('threat 179: a key that is revoked, or has less to spend, asks no provider', async () => {
      const ada = await world().signedIn('developer')
      const [revoked, poor] = [(await world().newKey(ada)).body, (await world().newKey(ada)).body]
      const before = world().upstream.requests.length
      const change = (key: Key, method: string, body?: object) => () =>
        ask(method, `/api/keys/${key.id}`, { as: ada, body })
      const post: [string, string, object] = ['POST', '/v1/chat/completions', chat]
      expect(
        await Promise.all([
          held(post, by(revoked.key!), change(revoked, 'DELETE')),
          held(post, by(poor.key!), change(poor, 'PATCH', { models: ['gpt-4o'] })),
        ]),
      ).toEqual([401, 403])
      expect(world().upstream.requests).toHaveLength(before)
    })

    it('an access token that only expires meanwhile is good, and the request counts once', async () => {
      const ada = await world().signedIn('user', true)
      // Tokens end at a whole second.
      await world().advance(15 * 60_000 - 3_000)
      const expired = () => new Promise((resolve) => setTimeout(resolve, 3_200))
      expect(await held(['POST', '/api/tokens', message], bySignIn(ada), expired)).toBe(200)
      expect((await ask('GET', '/api/account', { as: ada })).status).toBe(401)
    })

    it('a request whose caller is looked up again counts once', async () => {
      const ada = await world().signedIn()
      const seven = Array.from({ length: 7 }, () => held(['POST', '/api/tokens', message], bySignIn(ada), nothing))
      expect(await Promise.all(seven)).toEqual(seven.map(() => 200))
      const account = async (): Promise<number> => (await ask('GET', '/api/account', { as: ada })).status
      expect([await account(), await account()]).toEqual([200, 429])
    })
  },
  { API_RATE_LIMIT: '8' },
)

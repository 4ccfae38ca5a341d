import { expect, it } from 'vitest'
import type { AuthSession } from './world.js'
import { PASSWORD, worldSuite } from './world.js'

interface Entry {
  actor: string
  action: string
  target: string
  detail?: string
}

worldSuite(
  'sign-ins in the audit log',
  (world) => {
    const logged = async (after: number): Promise<Entry[]> => {
      const admin = await world().signedIn('admin')
      const { body } = await world().ask<{ data: (Entry & { timestamp: string; id: string })[] }>(
        'GET',
        '/admin/audit?limit=500',
        { as: admin },
      )
      // Without those of the administrator who asks.
      return body.data
        .slice(0, body.data.length - after)
        .filter(({ actor }) => actor !== admin.id)
        .map(({ actor, action, target, detail }) => ({
          actor,
          action,
          target,
          ...(detail !== undefined && { detail }),
        }))
        .toReversed()
    }
    const count = async (): Promise<number> =>
      (await world().call<[string[]][]>('dump')).filter(([[kind]]) => kind === 'audit').length
    const from = (ip: string) => ({ 'x-forwarded-for': ip })

    it('has sign-ins, sign-outs and role changes, with who, where from and what', async () => {
      const before = await count()
      const admin = await world().signedIn('admin')
      const [ada, other] = [await world().signedIn('user', false), await world().signedIn()]
      const phone = await world().signIn(ada.email, { headers: from('2001:db8::7') })
      const role = (path: string, as: typeof ada, to: string) => world().ask('PATCH', path, { as, body: { role: to } })
      expect((await role(`/api/users/${ada.id}`, admin, 'developer')).status).toBe(200)
      expect((await role('/api/account/role', ada, 'user')).status).toBe(200)
      expect(
        (await world().ask('PATCH', `/api/users/${ada.id}`, { as: admin, body: { firstName: 'Ada' } })).status,
      ).toBe(200)
      await world().ask('DELETE', '/api/auth?scope=others', { as: ada, headers: from('192.0.2.9') })
      await world().ask('DELETE', '/api/auth', { as: ada })
      await world().call('setPassword', other.id, 'another password', { by: 'users-cli' })
      const sid = (token: string) => JSON.parse(atob(token.split('.')[1]!)).sid as string
      expect(await logged(before)).toEqual([
        { actor: admin.id, action: 'sign-in', target: sid(admin.access), detail: '127.0.0.1' },
        { actor: ada.id, action: 'sign-in', target: sid(ada.access), detail: '127.0.0.1' },
        { actor: other.id, action: 'sign-in', target: sid(other.access), detail: '127.0.0.1' },
        { actor: ada.id, action: 'sign-in', target: sid(phone.access), detail: '2001:db8:0:0::/64' },
        { actor: admin.id, action: 'user.role', target: ada.id, detail: 'developer' },
        { actor: ada.id, action: 'user.role', target: ada.id, detail: 'user' },
        { actor: admin.id, action: 'user.update', target: ada.id, detail: 'first_name' },
        { actor: ada.id, action: 'sign-out', target: sid(phone.access), detail: '192.0.2.9' },
        { actor: ada.id, action: 'sign-out', target: sid(ada.access), detail: '127.0.0.1' },
        { actor: 'users-cli', action: 'user.password', target: other.id },
      ])
    })

    it('has failures, but not what was typed, and of a flood a few only', async () => {
      await world().advance(60_000)
      const before = await count()
      const { id, email } = await world().person()
      const fail = (as: string, ip: string) =>
        world().ask<AuthSession>('POST', '/api/auth', {
          body: { email: as, password: 'a wrong one' },
          headers: from(ip),
        })
      await fail(email, '192.0.2.1')
      await fail(email, '192.0.2.1')
      await fail('correct horse, typed into the wrong field', '192.0.2.2')
      for (let i = 0; i < 60; i++) await fail(`nobody-${i}@example.org`, `10.0.${i}.1`)
      const failed = { actor: 'unknown', action: 'sign-in.fail' }
      const entries = await logged(before)
      expect(entries.slice(0, 2)).toEqual([
        { ...failed, target: id, detail: '192.0.2.1' },
        { ...failed, target: 'unknown', detail: '192.0.2.2' },
      ])
      // And one that says that there are more.
      expect(entries).toHaveLength(12)
      expect(entries.filter(({ detail }) => detail === 'more, which are left out')).toHaveLength(1)
      expect(entries.filter(({ target }) => target === id)).toHaveLength(1)
      expect(JSON.stringify(await world().call('dump'))).not.toMatch(/correct horse|nobody-/)
    })

    it('has every failure of a person in whatever case, once a minute', async () => {
      await world().advance(60_000)
      const before = await count()
      const { id, email } = await world().person()
      const body = { email: email.toUpperCase(), password: `${PASSWORD}!` }
      for (let minute = 0; minute < 2; minute++) {
        await world().ask('POST', '/api/auth', { body })
        await world().advance(60_000)
      }
      expect((await logged(before)).map(({ action, target }) => [action, target])).toEqual([
        ['sign-in.fail', id],
        ['sign-in.fail', id],
      ])
    })
  },
  { TRUSTED_HOPS: '1' },
)

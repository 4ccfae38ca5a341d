import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Smtp } from '../support/smtp.js'
import { linkIn, startSmtp, tokenOf } from '../support/smtp.js'
import { PASSWORD, worldSuite } from './world.js'

const NEW = 'battery staple'

let smtp: Smtp
const env: Record<string, string> = { BASE_URL: 'https://ai.example' }
beforeAll(async () => {
  smtp = await startSmtp()
  env['SMTP_URL'] = smtp.url
})
afterAll(() => smtp.close())

worldSuite(
  'notices by mail',
  (world) => {
    it('tell of a new password, whoever has set it', async () => {
      const [admin, ada] = [await world().signedIn('admin'), await world().signedIn()]
      const isTold = async (): Promise<void> => {
        const message = await smtp.next(ada.email)
        expect(message.subject).toBe('Your password was changed')
        expect(linkIn(message)).toBe('https://ai.example/console')
        expect(message.text).not.toContain(NEW)
      }
      const body = { current: PASSWORD, password: NEW }
      expect((await world().ask('PUT', '/api/account/password', { as: ada, body })).status).toBe(204)
      await isTold()
      const path = `/api/users/${ada.id}/password`
      expect((await world().ask('PUT', path, { as: admin, body: { password: NEW } })).status).toBe(204)
      await isTold()
      await world().ask('POST', `/api/users/${ada.id}/password-link`, { as: admin })
      const token = tokenOf(linkIn(await smtp.next(ada.email)))
      await world().ask('PUT', '/api/auth/link', { body: { token, password: NEW } })
      await isTold()
      // What was refused is not told.
      await world().ask('PUT', '/api/auth/link', { body: { token, password: NEW } })
      await world().ask('PUT', path, { as: admin, body: { password: 'short' } })
      await world().ask('PUT', path, { as: admin, body: { password: NEW } })
      await isTold()
      expect(smtp.received.filter(({ envelope }) => envelope.to.includes(ada.email))).toHaveLength(5)
    })

    it('tell the e-mail of before that there is another', async () => {
      const [admin, ada] = [await world().signedIn('admin'), await world().person()]
      const patch = (body: object) => world().ask('PATCH', `/api/users/${ada.id}`, { as: admin, body })
      const moved = `moved-${ada.email}`
      await patch({ email: ada.email.toUpperCase(), firstName: 'Ada' })
      await patch({ email: moved })
      const message = await smtp.next(ada.email)
      expect(message.subject).toBe('Your e-mail was changed')
      expect(message.text).not.toContain(moved)
      await patch({ email: ada.email })
      expect((await smtp.next(moved)).subject).toBe('Your e-mail was changed')
      expect(smtp.received.filter(({ envelope }) => envelope.to.includes(ada.email))).toHaveLength(1)
    })
  },
  env,
)

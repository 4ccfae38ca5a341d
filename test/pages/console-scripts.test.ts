import { expect, it } from 'vitest'
import { consoleSuite, PASSWORD } from './console.js'
import { payloads } from './payloads.js'

consoleSuite(
  'threat 23: what users write is text in the console',
  (given) => {
    it('in names of files, keys, sessions and users', async () => {
      const { page, person, open, faults } = given()
      const { client } = person
      for (const [i, text] of payloads.entries()) {
        const name = text.slice(0, 200)
        await client.upload(new Blob([text], { type: 'text/html' }), { fields: { displayName: name } })
        await client.post('/api/keys', { body: { name } })
        await client.post('/api/sessions', { body: { label: name } })
        const email = `u${i}-${person.id}@example.org`
        await client.post('/api/users', { body: { email, password: PASSWORD, firstName: name, lastName: name } })
      }
      await client.patch('/api/users/{id}', { params: { id: person.id }, body: { firstName: payloads[0]! } })

      await open('/files', 'Files')
      await page.reload()
      const rows = page.getByRole('rowheader').getByRole('button')
      await rows.last().waitFor()
      expect((await rows.allTextContents()).toReversed()).toEqual(payloads.map((text) => text.slice(0, 200)))
      for (const row of await rows.all()) {
        await row.click()
        await page.getByRole('dialog').getByRole('button', { name: 'Move to trash' }).waitFor()
        await page.keyboard.press('Escape')
      }
      await open('/keys', 'Keys')
      await page.getByRole('rowheader', { name: payloads[0]!, exact: true }).waitFor()
      await page.getByRole('button', { name: `Revoke ${payloads[1]}` }).click()
      await page.getByRole('dialog').getByText(payloads[1]!).waitFor()
      await page.keyboard.press('Escape')
      await open('/usage', 'Usage')
      await page.getByRole('table', { name: 'Sessions' }).getByText(payloads[0]!, { exact: true }).waitFor()
      await open('/users', 'Users')
      await page.getByRole('button', { name: `u1-${person.id}` }).click()
      await page.getByRole('dialog').getByLabel('First name').waitFor()
      await page.keyboard.press('Escape')
      await open(`/users?email=${encodeURIComponent(payloads[0]!)}`, 'Users')
      await page.getByText(`Nobody has the e-mail ${payloads[0]}`).waitFor()
      await open('/account', 'Account')
      await page.reload()
      await page.getByRole('definition').getByText(payloads[0]!).waitFor()
      await page.waitForTimeout(300)
      expect(faults).toEqual([])
      expect(await page.evaluate('globalThis.hit')).toBeUndefined()
    })
  },
  { role: 'admin', env: { LOG: 'silent' } },
)

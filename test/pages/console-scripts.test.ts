import type { Client } from '@turnpike/client'
import { expect, it } from 'vitest'
import { visible } from '../../packages/ui/src/visible.js'
import { consoleSuite, PASSWORD } from './console.js'
import { inColumn } from './console-tasks.js'
import { payloads, single } from './payloads.js'

/** A long text, and a name. */
const all = payloads.join('\n')
const name = payloads.slice(0, 10).join(' ')

const statuses = ['waiting_approval', 'running', 'failed', 'done'] as const
const columns = ['Waiting for approval', 'Running', 'Failed', 'Done']

/** Everything that people and models can write. */
async function fill(client: Client) {
  const { id } = await client.post('/api/projects', { body: { name, description: all } })
  const tasks: string[] = []
  for (const [i, payload] of single.entries()) {
    const { id: task } = await client.post('/api/tasks', {
      body: { projectId: id, title: payload, description: all, requiresUserApproval: true },
    })
    tasks.push(task)
    const { choices } = await client.post('/api/gateway/v1/chat/completions', {
      headers: { 'X-Task-ID': task },
      body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: payload }] },
    })
    const output = choices[0]!.message.content as string
    expect(output).toContain(payload)
    const change = (body: object) => client.patch('/api/tasks/{id}', { params: { id: task }, body })
    await change({ output: `${output}\n${all}` })
    await change({ output, draft_output: `${all}\n${output}`, review_comments: payload })
    await change({ status: statuses[i % 4]! })
    const sent = client.stream('/api/projects/{id}/conversation/messages', { params: { id }, body: { text: payload } })
    for await (const _ of sent);
  }
  return { id, tasks }
}

consoleSuite(
  'threat 23: what users and models write is text in the console',
  (given) => {
    it('in names of files, keys, sessions and users', async () => {
      const { page, person, open, faults, server } = given()
      const { client } = person
      const { key } = await client.post('/api/keys', { body: { name: 'app', endUsers: {} } })
      for (const [i, text] of single.entries()) {
        const name = text.slice(0, 200)
        await client.upload(new Blob([text], { type: 'text/html' }), { fields: { displayName: name } })
        await client.post('/api/keys', { body: { name, models: [name] } })
        await fetch(`${server.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
          body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: '.' }], user: text }),
        })
        await client.post('/api/sessions', { body: { label: name } })
        const email = `u${i}-${person.id}@example.org`
        await client.post('/api/users', { body: { email, password: PASSWORD, firstName: name, lastName: name } })
      }
      await client.patch('/api/users/{id}', { params: { id: person.id }, body: { firstName: payloads[0]! } })

      await open('/files', 'Files')
      await page.reload()
      const rows = page.getByRole('rowheader').getByRole('button')
      await rows.last().waitFor()
      expect((await rows.allTextContents()).toReversed()).toEqual(single.map((text) => visible(text.slice(0, 200))))
      for (const row of await rows.all()) {
        await row.click()
        await page.getByRole('dialog').getByRole('button', { name: 'Move to trash' }).waitFor()
        await page.keyboard.press('Escape')
      }
      await open('/keys', 'Keys')
      await page.getByRole('rowheader').filter({ hasText: payloads[0]! }).first().waitFor()
      await page.getByRole('button', { name: payloads[1]!, exact: true }).click()
      await page.getByRole('button', { name: `Remove ${payloads[1]}` }).waitFor()
      await page.getByRole('button', { name: 'Revoke' }).click()
      await page.getByRole('dialog', { name: 'Revoke the key?' }).getByText(payloads[1]!).waitFor()
      await page.keyboard.press('Escape')
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'app', exact: true }).click()
      await page.getByRole('dialog').getByRole('button', { name: payloads[0]!, exact: true }).last().click()
      await page.getByRole('dialog', { name: payloads[0]! }).getByText('First seen').waitFor()
      await page.keyboard.press('Escape')
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      await open('/usage?by=session', 'Usage')
      await page
        .getByRole('table', { name: 'Sessions' })
        .getByRole('rowheader', { name: payloads[0]! })
        .first()
        .waitFor()
      await open('/admin/users', 'Users')
      await page.getByRole('button', { name: `u1-${person.id}` }).click()
      await page.getByRole('dialog').getByLabel('First name').waitFor()
      await page.keyboard.press('Escape')
      await open(`/admin/users?email=${encodeURIComponent(payloads[0]!)}`, 'Users')
      await page.getByText(`Nobody has the e-mail ${payloads[0]}`).waitFor()
      await open('/account', 'Account')
      await page.reload()
      await page.getByRole('definition').getByText(payloads[0]!).waitFor()
      await page.waitForTimeout(300)
      expect(faults).toEqual([])
      expect(await page.evaluate('globalThis.hit')).toBeUndefined()
    })

    it('in projects, tasks, drafts, revisions, results and conversations', async () => {
      const { page, person, faults, open } = given()
      const { id, tasks } = await fill(person.client)

      await open('/projects', 'Projects')
      await page.reload()
      await page.getByRole('link', { name }).waitFor()
      for (const part of ['', '/conversation', '/results', '/team', '/settings']) {
        await open(`/projects/${id}${part}`, name)
        await page.waitForLoadState('networkidle')
      }
      await page.getByRole('button', { name: 'Delete project' }).click()
      await page.getByRole('dialog').getByText(payloads[0]!).first().waitFor()
      await page.keyboard.press('Escape')
      await open(`/projects/${id}`, name)
      for (const [i, payload] of single.entries()) await inColumn(given(), columns[i % 4]!, visible(payload))
      for (const task of tasks) {
        await open(`/projects/${id}?task=${task}`, name)
        await page.getByLabel('From').waitFor()
        await page.keyboard.press('Escape')
        await page.locator('dialog').waitFor({ state: 'detached' })
      }
      await open(`/projects/${id}/conversation`, name)
      await page.getByRole('textbox', { name: 'Message' }).fill(all)
      await page.getByRole('textbox', { name: 'Message' }).press('Enter')
      await page.getByText(`You said: ${payloads[0]!}`).last().waitFor()
      await page.getByRole('button', { name: 'Send' }).waitFor()
      await open(`/projects/${encodeURIComponent(all)}`, 'Project')
      await page.getByText('There is no such project').waitFor()
      expect(await page.evaluate('document.querySelectorAll("script").length')).toBe(1)
      expect(await page.evaluate('document.querySelectorAll("iframe, base, style, math").length')).toBe(0)
      expect(faults).toEqual([])
      expect(await page.evaluate('globalThis.hit')).toBeUndefined()
    })
  },
  { role: 'admin', env: { LOG: 'silent' } },
)

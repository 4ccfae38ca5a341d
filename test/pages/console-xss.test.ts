import type { Client } from '@turnpike/client'
import { expect, it } from 'vitest'
import { consoleSuite } from './console.js'
import { looks } from './visitor.js'

/** What would run, or load something, if any text were taken for HTML, for a link or for Markdown. */
const payloads = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(2)>',
  '"><svg onload=alert(3)>',
  "'-alert(4)-'",
  '</textarea></select></title><script>alert(5)</script>',
  '<iframe srcdoc="<script>parent.alert(6)</script>"></iframe>',
  '<details open ontoggle=alert(7)>',
  '<a href="javascript:alert(8)" autofocus onfocus=alert(8)>x</a>',
  '[x](javascript:alert(9)) ![x](https://evil.example/x.png)',
  '<style>@import "https://evil.example/x.css";</style>',
  '<math><mtext></table><img src=x onerror=alert(10)>',
  'javascript:alert(11)',
  '{{constructor.constructor("alert(12)")()}}',
  '<base href="https://evil.example/"><link rel=stylesheet href=//evil.example/x.css>',
  '<meta http-equiv=refresh content="0;url=https://evil.example/">',
]
const all = payloads.join('\n')

/** Everything that people and models can write. */
async function fill(client: Client) {
  const { id } = await client.post('/api/projects', { body: { name: all, description: all } })
  const tasks: string[] = []
  for (const [i, payload] of payloads.entries()) {
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
    await change({ status: (['waiting_approval', 'running', 'failed', 'done'] as const)[i % 4] })
    const sent = client.stream('/api/projects/{id}/conversation/messages', { params: { id }, body: { text: payload } })
    for await (const _ of sent);
    await client.post('/api/keys', { body: { name: payload } })
    await client.post('/api/sessions', { body: { label: payload } })
    await client.upload(new Blob([payload], { type: 'text/html' }), { name: payload, fields: { displayName: payload } })
  }
  return { id, tasks }
}

consoleSuite(
  'text in the console',
  (given) => {
    it('is text, whoever wrote it', async () => {
      const { page, person, admin, faults, open } = given()
      await admin.client.patch('/api/users/{id}', {
        params: { id: person.id },
        body: { firstName: payloads[0]!, lastName: payloads[1]!, username: payloads[2]! },
      })
      const { id, tasks } = await fill(person.client)
      // A heading collapses line breaks.
      const heading = payloads.join(' ')

      await open('/projects', 'Projects')
      await page.reload()
      await page.getByRole('link', { name: payloads[0]! }).waitFor()
      for (const part of ['', '/conversation', '/results', '/team', '/settings']) {
        await open(`/projects/${id}${part}`, heading)
        await page.waitForLoadState('networkidle')
      }
      await page.getByRole('button', { name: 'Delete project' }).click()
      await page.getByText(payloads[0]!).first().waitFor()
      await page.keyboard.press('Escape')
      await open(`/projects/${id}`, heading)
      for (const payload of payloads) await page.getByRole('link', { name: payload, exact: true }).waitFor()
      for (const task of tasks) {
        await open(`/projects/${id}?task=${task}`, heading)
        await page.getByLabel('From').waitFor()
        await page.keyboard.press('Escape')
        await page.locator('dialog').waitFor({ state: 'detached' })
      }
      await open(`/projects/${id}/conversation`, heading)
      await page.getByRole('textbox', { name: 'Message' }).fill(all)
      await page.getByRole('textbox', { name: 'Message' }).press('Enter')
      await page.getByText(`You said: ${payloads[0]!}`).last().waitFor()
      await page.getByRole('button', { name: 'Send' }).waitFor()
      for (const [path, name] of [
        ['/files', 'Files'],
        ['/files?show=trash', 'Files'],
        ['/usage', 'Usage'],
        ['/keys', 'Keys'],
        ['/users', 'Users'],
        ['/account', 'Account'],
        [`/projects/${encodeURIComponent(all)}`, 'Project'],
      ] as const) {
        await open(path, name)
        await page.waitForLoadState('networkidle')
      }
      expect(await page.evaluate('document.querySelectorAll("script").length')).toBe(1)
      expect(await page.evaluate('document.querySelectorAll("iframe, base, style, math").length')).toBe(0)
      expect(faults).toEqual([])
    })
  },
  { role: 'admin', only: looks.slice(0, 1), env: { USER_RATE_LIMIT: '1000' } },
)

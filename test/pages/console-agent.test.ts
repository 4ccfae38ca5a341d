import { fakeOpenAI } from '@turnpike/providers/testing'
import { afterAll, expect, it } from 'vitest'
import type { Script } from '../clients/scripted-upstream.js'
import { scripted } from '../clients/scripted-upstream.js'
import { consoleSuite } from './console.js'
import { project, read } from './console-tasks.js'

/** Reads the newest file, tries to save another, and writes a report. */
const script: Script = (results) => {
  const [list, text, saved] = results
  if (list === undefined) return { text: 'Let me look.', calls: [{ id: 'a', name: 'list_files', input: {} }] }
  const [{ id }] = JSON.parse(list) as [{ id: string }]
  if (text === undefined) return { text: '', calls: [{ id: 'b', name: 'read_file', input: { id } }] }
  const report = { name: 'report.txt', text: '<b>Report</b>' }
  if (saved === undefined) return { text: '', calls: [{ id: 'c', name: 'save_file', input: report }] }
  return { text: `## Report\n\n- ${text}\n- ${saved}`, calls: [] }
}

const upstream = fakeOpenAI({
  apiKey: 'sk-upstream',
  override: (request) => (request.path.endsWith('/chat/completions') ? scripted('openai', request, script) : undefined),
})
const { url, close } = await upstream.listen()
afterAll(() => close())

consoleSuite(
  'an agent in the console',
  (given) => {
    it('does a task: its calls are allowed or refused, and its draft waits for approval', async () => {
      const { page, person, open, inspect } = given()
      await person.client.upload(new Blob(['Sunny <i>days</i>'], { type: 'text/plain' }), { name: 'weather.txt' })
      const { id, task } = await project(person, 'Weather', { requiresUserApproval: true })
      await open(`/projects/${id}?task=${task.id}`, 'Website')
      const drawer = page.getByRole('dialog', { name: 'Weather' })
      await drawer.getByLabel('Model').selectOption('gpt-4o')
      await inspect('console-agent')
      // What the agent is told is what was shown.
      const params = { id }
      await person.client.patch('/api/projects/{id}', { params, body: { description: 'Read the diary' } })
      await drawer.getByRole('button', { name: 'Run', exact: true }).click()
      await drawer.getByText('was changed meanwhile').waitFor()
      expect((await read(given(), task.id)).status).toBe('scheduled')
      await person.client.patch('/api/projects/{id}', { params, body: { description: null } })
      await drawer.getByRole('button', { name: 'Run', exact: true }).click()
      const call = (name: string) => drawer.getByRole('group', { name: `Call of ${name}` })
      await call('list_files').getByText('Asks you').waitFor()
      await drawer.getByText('Let me look.').waitFor()
      expect((await read(given(), task.id)).status).toBe('running')
      await call('list_files').getByRole('button', { name: 'Allow', exact: true }).click()
      // It goes on while nobody looks.
      await call('read_file').getByText('Asks you').waitFor()
      await call('read_file').getByText('weather.txt').waitFor()
      await page.keyboard.press('Escape')
      await drawer.waitFor({ state: 'detached' })
      await open(`/projects/${id}?task=${task.id}`, 'Website')
      await call('read_file').getByRole('button', { name: 'Always allow' }).click()
      await call('save_file').getByText('<b>Report</b>').waitFor()
      await inspect('console-agent-asks')
      await call('save_file').getByRole('button', { name: 'Refuse' }).click()
      await call('save_file').getByText('Refused', { exact: true }).waitFor()
      await drawer.getByRole('heading', { name: 'Report' }).waitFor()
      await drawer.getByText(/^gpt-4o · \d+ tokens · \$/).waitFor()
      await drawer.getByRole('button', { name: 'Approve' }).waitFor()
      await inspect('console-agent-done')
      expect(await read(given(), task.id)).toMatchObject({
        status: 'waiting_approval',
        draft_output: '## Report\n\n- Sunny <i>days</i>\n- This call was refused',
      })
      expect((await person.client.list('/api/user-files')).items).toHaveLength(1)
    })

    it('is stopped, and gives the task back', async () => {
      const { page, person, open } = given()
      const { id, task } = await project(person, 'Later')
      await open(`/projects/${id}?task=${task.id}`, 'Website')
      const drawer = page.getByRole('dialog', { name: 'Later' })
      // The model that was chosen last.
      expect(await drawer.getByLabel('Model').inputValue()).toBe('gpt-4o')
      await drawer.getByRole('button', { name: 'Run', exact: true }).click()
      await drawer.getByText('Asks you').waitFor()
      await drawer.getByRole('button', { name: 'Stop' }).click()
      await drawer.getByText('You stopped it.').waitFor()
      expect(await read(given(), task.id)).toMatchObject({ status: 'scheduled', draft_output: 'Let me look.' })
      expect(given().faults).toEqual([])
    })
  },
  { env: { OPENAI_API_KEY: 'sk-upstream', OPENAI_BASE_URL: `${url}/v1` } },
)

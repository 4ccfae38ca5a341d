import { fakeOpenAI } from '@turnpike/providers/testing'
import { afterAll, expect, it } from 'vitest'
import type { Script } from '../clients/scripted-upstream.js'
import { scripted } from '../clients/scripted-upstream.js'
import { consoleSuite } from './console.js'
import { conversation, messages, say } from './console-conversation.js'

const proposals = [
  { title: 'Costs of the oven', description: 'Find **three** offers.', agent: 'Assistant' },
  { title: 'Colour of the walls', description: 'Choose one.', agent: 'Nobody' },
  { title: 'Opening hours', description: 'Ask the neighbours.', agent: 'Assistant' },
]
/** Proposes tasks, one of them for an agent that there is not, and says what it was told. */
const script: Script = (results) => ({
  text: results.length === 0 ? '' : results.join('; '),
  calls: results.length === 0 ? proposals.map((input, i) => ({ id: `${i}`, name: 'propose_task', input })) : [],
})

const upstream = fakeOpenAI({
  apiKey: 'sk-upstream',
  override: (request) => {
    const { tools } = request.body as { tools?: object[] }
    return tools ? scripted('openai', request, script) : undefined
  },
})
const { url, close } = await upstream.listen()
afterAll(() => close())

consoleSuite(
  'tasks that a conversation leads to',
  (given) => {
    it('are proposed by a model, and made by a click each', async () => {
      const { page, person, inspect } = given()
      const { id } = await conversation(given())
      await say(given(), 'We open a bakery.')
      await messages(given()).getByText('You said: We open a bakery.').waitFor()
      await page.getByRole('button', { name: 'Propose tasks' }).click()
      const drawer = page.getByRole('dialog', { name: 'Propose tasks' })
      await drawer.getByLabel('Model').selectOption('gpt-4o')
      await drawer.getByRole('button', { name: 'Propose', exact: true }).click()
      const proposed = drawer.getByRole('list', { name: 'Proposed tasks' }).getByRole('listitem')
      await drawer.getByText('It is shown.; It failed: There is no agent Nobody; It is shown.').waitFor()
      expect(await proposed.getByRole('heading').allTextContents()).toEqual(['Costs of the oven', 'Opening hours'])
      const tasks = async () => (await person.client.list('/api/tasks', { query: { projectId: id } })).items
      expect(await tasks()).toEqual([])
      await proposed.nth(0).getByRole('button', { name: 'Create task' }).click()
      await proposed.nth(0).locator('a:focus').getByText('On the board').waitFor()
      await inspect('console-proposals')
      expect(await tasks()).toMatchObject([
        {
          title: 'Costs of the oven',
          description: 'Find **three** offers.',
          assigned_agent_id: 1,
          requires_user_approval: true,
          status: 'scheduled',
        },
      ])

      const { messages: asked } = upstream.requests.at(-1)!.body as { messages: { role: string; content: string }[] }
      expect(asked[0]!.content).toContain('Assistant (Does what it is asked)')
      expect(asked[1]).toMatchObject({ role: 'user', content: 'We open a bakery.' })
      await page.keyboard.press('Escape')
      // The reply, and two requests for the proposals.
      await page.getByText('Conversation: 3 requests ·').waitFor()
      await page.getByRole('link', { name: 'Board' }).click()
      await page.getByRole('link', { name: 'Costs of the oven', exact: true }).waitFor()
      expect(given().faults).toEqual([])
    })
  },
  { env: { OPENAI_API_KEY: 'sk-upstream', OPENAI_BASE_URL: `${url}/v1` } },
)

import { afterAll, expect, it } from 'vitest'
import { answer, begun, chunksOf, done, stream } from '../faults/wire.js'
import { rawUpstream, reset } from '../support/raw-upstream.js'
import type { Given } from './console.js'
import { consoleSuite } from './console.js'

const upstream = await rawUpstream()
afterAll(() => upstream.close())

const chunk = chunksOf('chatcmpl-1', 'gpt-4o-mini')
const words = (...texts: string[]): string[] => [
  chunk({ role: 'assistant' }),
  ...texts.map((content) => chunk({ content })),
]
const whole = (text: string, finish = 'stop') => stream(...words(text), chunk({}, finish), done)

/** Opens the conversation of a new project. */
async function conversation({ person: { client }, open }: Given) {
  const { id } = await client.post('/api/projects', { body: { name: 'Website' } })
  await open(`/projects/${id}/conversation`, 'Website')
  const read = async () =>
    (await client.get('/api/projects/{id}/conversation', { params: { id } })).messages.map(
      ({ role, text, incomplete }) => [role, text, ...(incomplete ? ['incomplete'] : [])],
    )
  return { id, read }
}

const composer = ({ page }: Given) => page.getByRole('textbox', { name: 'Message' })
const say = async (given: Given, text: string): Promise<void> => {
  await composer(given).fill(text)
  await composer(given).press('Enter')
}
const messages = ({ page }: Given) => page.getByRole('list', { name: 'Messages' }).getByRole('listitem')

consoleSuite(
  'the conversation of the console',
  (given) => {
    it('streams an answer and tells what it cost', async () => {
      const { page, inspect } = given()
      const { id, read } = await conversation(given())
      await page.getByText('No messages yet').waitFor()
      await inspect('console-conversation-empty')
      let goOn!: () => void
      const gate = new Promise<void>((resolve) => (goOn = resolve))
      upstream.script = begun(
        words('Good ', 'morning'),
        gate,
        ...stream(chunk({ content: '!' }), chunk({}, 'stop'), done).slice(1),
      )
      await composer(given()).fill('Hello')
      await composer(given()).press('Shift+Enter')
      await composer(given()).pressSequentially('there')
      await composer(given()).press('Enter')
      await messages(given()).getByText('Good morning').waitFor()
      expect(await composer(given()).inputValue()).toBe('')
      await page.getByRole('button', { name: 'Stop' }).waitFor()
      await inspect('console-conversation-streaming')
      goOn()
      await messages(given()).getByText('Good morning!').waitFor()
      await page.getByRole('button', { name: 'Send' }).waitFor()
      expect(await read()).toEqual([
        ['user', 'Hello\nthere'],
        ['assistant', 'Good morning!'],
      ])
      await page.getByText('Conversation: 1 request ·').waitFor()
      expect(await page.getByText('tokens ·').count()).toBe(1)
      const { cost_usd } = await given().person.client.get('/api/projects/{id}/spend', { params: { id } })
      expect(cost_usd).toBeGreaterThan(0)
      await inspect('console-conversation')
    })

    it('shows a long answer in far fewer steps than it has tokens', async () => {
      const { page } = given()
      const { read } = await conversation(given())
      const tokens = Array.from({ length: 4_000 }, (_, i) => `${i % 10 === 9 ? '🚏' : 'toll'} `)
      await page.evaluate(`
        globalThis.steps = 0
        new MutationObserver(() => steps++)
          .observe(document.querySelector('.messages'), { childList: true, subtree: true, characterData: true })`)
      upstream.script = begun(words(...tokens))
      await say(given(), 'Everything')
      const text = tokens.join('')
      await expect.poll(() => messages(given()).nth(1).locator('.text').textContent()).toBe(text)
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.getByText('You stopped the answer').waitFor()
      await expect.poll(async () => (await read())[1]).toEqual(['assistant', text, 'incomplete'])
      expect(await page.evaluate<number>('steps')).toBeLessThan(tokens.length / 10)
    })

    it('stops an answer, and keeps what came', async () => {
      const { page } = given()
      const { read } = await conversation(given())
      upstream.script = begun(words('Once upon'))
      await say(given(), 'A story')
      await messages(given()).getByText('Once upon').waitFor()
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.getByText('You stopped the answer').waitFor()
      await page.getByText('This answer is not whole').waitFor()
      await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA')
      await expect.poll(read).toEqual([
        ['user', 'A story'],
        ['assistant', 'Once upon', 'incomplete'],
      ])
    })

    it('says that an answer broke off, and asks again after a warning of the cost', async () => {
      const { page, inspect } = given()
      const { read } = await conversation(given())
      upstream.script = begun(words('Half an'), 50, reset)
      await say(given(), 'A question')
      await page.getByText('The answer broke off.').waitFor()
      await page.getByRole('alert').getByText('Request').waitFor()
      await inspect('console-conversation-broken')
      await page.getByRole('button', { name: 'Ask again' }).click()
      await page.getByText('That is billed again').waitFor()
      await inspect('console-conversation-again')
      upstream.requests = 0
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('button', { name: 'Ask again' }).click()
      expect(upstream.requests).toBe(0)
      upstream.script = whole('All of it', 'length')
      await page.getByRole('dialog').getByRole('button', { name: 'Ask again' }).click()
      await page.getByText('reached the model’s limit').waitFor()
      expect(upstream.requests).toBe(1)
      expect(await read()).toEqual([
        ['user', 'A question'],
        ['assistant', 'Half an', 'incomplete'],
        ['assistant', 'All of it'],
      ])
    })

    it('says that no answer began, with the message stored once', async () => {
      const { page } = given()
      const { read } = await conversation(given())
      upstream.script = [answer(400, JSON.stringify({ error: { message: 'no', type: 'x', code: null } }))]
      await say(given(), 'Hello')
      await page.getByText('Your message is stored, but no answer began').waitFor()
      expect(await composer(given()).inputValue()).toBe('')
      expect(await read()).toEqual([['user', 'Hello']])
    })

    it('keeps the text where sending fails', async () => {
      const { page } = given()
      const { read } = await conversation(given())
      await page.route('**/conversation/messages', (route) => route.abort())
      await say(given(), 'Do not lose me')
      await page.getByText('Your message was not sent').waitFor()
      expect(await composer(given()).inputValue()).toBe('Do not lose me')
      await page.unroute('**/conversation/messages')
      await page.getByRole('link', { name: 'Board' }).click()
      await page.getByText('No tasks yet').waitFor()
      await page.getByRole('link', { name: 'Conversation' }).click()
      expect(await composer(given()).inputValue()).toBe('Do not lose me')
      upstream.script = whole('Never')
      await composer(given()).press('Enter')
      await messages(given()).getByText('Never').waitFor()
      expect(await read()).toHaveLength(2)
    })

    it('sends what was typed before the messages were read, and keeps it in the list', async () => {
      const { page, person, open } = given()
      const { id } = await person.client.post('/api/projects', { body: { name: 'Website' } })
      let answerRead!: () => void
      const gate = new Promise<void>((resolve) => (answerRead = resolve))
      await page.route('**/conversation?*', async (route) => {
        const response = await route.fetch()
        await gate
        await route.fulfill({ response })
      })
      upstream.script = whole('Good morning')
      await open(`/projects/${id}/conversation`, 'Website')
      await say(given(), 'Hello')
      await page.getByRole('button', { name: 'Stop' }).waitFor()
      answerRead()
      await messages(given()).getByText('Good morning').waitFor()
      expect(await messages(given()).locator('.text').allTextContents()).toEqual(['Hello', 'Good morning'])
      await page.unroute('**/conversation?*')
    })

    it('does not take an older message for one that was not sent', async () => {
      const { page, person, open } = given()
      const { id } = await person.client.post('/api/projects', { body: { name: 'Website' } })
      await person.client.post('/api/projects/{id}/conversation/messages', { params: { id }, body: { text: 'Hello' } })
      await page.route('**/conversation?*', (route) => route.abort())
      await page.route('**/conversation/messages', (route) => route.abort())
      await open(`/projects/${id}/conversation`, 'Website')
      await page.getByRole('alert').first().waitFor()
      await page.unroute('**/conversation?*')
      await say(given(), 'Hello')
      await page.getByText('Your message was not sent').waitFor()
      expect(await composer(given()).inputValue()).toBe('Hello')
      await page.unroute('**/conversation/messages')
    })

    it('says that nothing was sent where it is stopped before that', async () => {
      const { page } = given()
      const { read } = await conversation(given())
      await page.getByText('No messages yet').waitFor()
      const sent = page.waitForRequest('**/conversation/messages')
      await page.route('**/conversation/messages', () => {})
      await say(given(), 'Too early')
      await sent
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.getByText('Your message was not sent').waitFor()
      expect(await composer(given()).inputValue()).toBe('Too early')
      expect(await page.getByText('billed').count()).toBe(0)
      expect(await read()).toEqual([])
      await page.unroute('**/conversation/messages')
    })

    it('tries again what failed: earlier messages', async () => {
      const { page, person } = given()
      const { id } = await conversation(given())
      for (let i = 1; i <= 31; i++)
        await person.client.post('/api/projects/{id}/conversation/messages', {
          params: { id },
          body: { text: `Message ${i}.` },
        })
      await page.reload()
      await page.getByRole('button', { name: 'Show earlier messages' }).waitFor()
      await page.route('**/conversation?*', (route) => route.abort())
      await page.getByRole('button', { name: 'Show earlier messages' }).click()
      await page.getByRole('alert').waitFor()
      await page.unroute('**/conversation?*')
      await page.getByRole('button', { name: 'Try again' }).click()
      await messages(given()).filter({ hasText: 'Message 1.' }).waitFor()
    })

    it('goes on while another part of the project is shown', async () => {
      const { page } = given()
      await conversation(given())
      let goOn!: () => void
      const gate = new Promise<void>((resolve) => (goOn = resolve))
      upstream.script = begun(
        words('Part one'),
        gate,
        ...stream(chunk({ content: ', part two' }), chunk({}, 'stop'), done).slice(1),
      )
      await say(given(), 'Both')
      await messages(given()).getByText('Part one').waitFor()
      await page.getByRole('link', { name: 'Board' }).click()
      await page.getByText('No tasks yet').waitFor()
      goOn()
      await page.getByRole('link', { name: 'Conversation' }).click()
      await messages(given()).getByText('Part one, part two').waitFor()
      await page.getByRole('button', { name: 'Send' }).waitFor()
    })

    it('tells screen readers of an answer every few seconds', async () => {
      const { page } = given()
      await page.clock.install()
      await conversation(given())
      await page.evaluate(`
        globalThis.told = []
        new MutationObserver(() => {
          const { textContent } = document.querySelector('.conversation .hidden[role=status]')
          if (told.at(-1) !== textContent) told.push(textContent)
        }).observe(document.querySelector('.conversation'), { childList: true, subtree: true, characterData: true })`)
      let goOn!: () => void
      const gate = new Promise<void>((resolve) => (goOn = resolve))
      upstream.script = begun(
        words('a ', 'b ', 'c'),
        gate,
        ...stream(chunk({ content: ' d' }), chunk({}, 'stop'), done).slice(1),
      )
      await say(given(), 'Letters')
      await messages(given()).getByText('a b c').waitFor()
      await page.clock.fastForward(3_000)
      await page.getByRole('status').getByText('a b c').waitFor()
      goOn()
      await page.getByRole('status').getByText('d The answer is complete.').waitFor()
      expect(await page.evaluate('told.filter(Boolean)')).toEqual([
        'The assistant is writing.',
        'a b c',
        ' d The answer is complete.',
      ])
    })

    it('shows earlier messages in pages, and clears after a question', async () => {
      const { page, person, inspect } = given()
      const { id, read } = await conversation(given())
      for (let i = 1; i <= 31; i++)
        await person.client.post('/api/projects/{id}/conversation/messages', {
          params: { id },
          body: { text: `Message ${i}.` },
        })
      await page.reload()
      await messages(given()).filter({ hasText: 'Message 31.' }).waitFor()
      expect(await messages(given()).count()).toBe(30)
      await page.getByRole('button', { name: 'Show earlier messages' }).click()
      await messages(given()).filter({ hasText: 'Message 1.' }).waitFor()
      expect(await messages(given()).count()).toBe(31)
      await page.getByRole('button', { name: 'Clear' }).click()
      await page.getByText('All messages are removed').waitFor()
      await inspect('console-conversation-clear')
      await page.getByRole('dialog').getByRole('button', { name: 'Clear' }).click()
      await page.getByText('No messages yet').waitFor()
      expect(await read()).toEqual([])
    })
  },
  { env: { OPENAI_API_KEY: 'sk-upstream', OPENAI_BASE_URL: `${upstream.url}/v1` } },
)

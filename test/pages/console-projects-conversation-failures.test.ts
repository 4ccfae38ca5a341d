import { afterAll, expect, it } from 'vitest'
import { answer, begun } from '../faults/wire.js'
import { needs, testAll } from '../support/needs.js'
import { rawUpstream, reset } from '../support/raw-upstream.js'
import { composer, conversation, conversationSuite, messages, say, whole, words } from './console-conversation.js'

const upstream = await rawUpstream()
afterAll(() => upstream.close())

conversationSuite('what fails or is stopped in the conversation of the console', upstream, (given) => {
  it('stops an answer, and keeps what came', async () => {
    const { page } = given()
    const { read } = await conversation(given())
    upstream.script = begun(words('Once upon'))
    await say(given(), 'A story')
    await messages(given()).getByText('Once upon').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('You stopped it here').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA')
    await expect.poll(read).toEqual([
      ['user', 'A story'],
      ['assistant', 'Once upon', 'stopped'],
    ])
  })

  it('says that an answer broke off, and asks again after a warning of the cost', async () => {
    const { page, inspect } = given()
    const { read } = await conversation(given())
    upstream.script = begun(words('Half an'), 50, reset)
    await say(given(), 'A question')
    await page.getByText('It broke off here.').waitFor()
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
      ['assistant', 'Half an', 'failed'],
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

  it('does not take an older message for one that was not sent', needs(testAll), async () => {
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

  it('says that nothing was sent where it is stopped before that', needs(testAll), async () => {
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

  it('tries again what failed: earlier messages', needs(testAll), async () => {
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
})

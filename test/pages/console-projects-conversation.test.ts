import { afterAll, expect, it } from 'vitest'
import { begun, piece } from '../faults/wire.js'
import { needs, testAll } from '../support/needs.js'
import { largePng } from '../support/large-png.js'
import { rawUpstream } from '../support/raw-upstream.js'
import { gate } from './console.js'
import {
  composer,
  conversation,
  conversationSuite,
  messages,
  rest,
  say,
  thought,
  whole,
  words,
} from './console-conversation.js'

const upstream = await rawUpstream()
afterAll(() => upstream.close())

conversationSuite('the conversation of the console', upstream, (given) => {
  it('streams an answer and tells what it cost', async () => {
    const { page, inspect } = given()
    const { id, read } = await conversation(given())
    await page.getByText('No messages yet').waitFor()
    await inspect('console-conversation-empty')
    const { opened, open: goOn } = gate()
    upstream.script = begun(words('Good ', 'morning'), opened, ...rest('!'))
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
    // Of the conversation, and of the answer.
    expect(await page.getByText('tokens ·').count()).toBe(2)
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
    // A paragraph as long as that is cut at a space.
    const shown = async () => (await messages(given()).nth(1).locator('.document').textContent())!.replaceAll(' ', '')
    await expect.poll(shown).toBe(text.replaceAll(' ', ''))
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('You stopped it here').waitFor()
    await expect.poll(async () => (await read())[1]).toEqual(['assistant', text, 'stopped'])
    expect(await page.evaluate<number>('steps')).toBeLessThan(tokens.length / 10)
  })

  it('sends what was typed before the messages were read, and keeps it in the list', needs(testAll), async () => {
    const { page, person, open } = given()
    const { id } = await person.client.post('/api/projects', { body: { name: 'Website' } })
    const { opened, open: answerRead } = gate()
    await page.route('**/conversation?*', async (route) => {
      const response = await route.fetch()
      await opened
      await route.fulfill({ response })
    })
    upstream.script = whole('Good morning')
    await open(`/projects/${id}/conversation`, 'Website')
    await say(given(), 'Hello')
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    answerRead()
    await messages(given()).getByText('Good morning').waitFor()
    expect(await messages(given()).locator('.markdown').allTextContents()).toEqual(['Hello', 'Good morning'])
    await page.unroute('**/conversation?*')
  })

  it('goes on while another part of the project is shown', async () => {
    const { page } = given()
    await conversation(given())
    const { opened, open: goOn } = gate()
    upstream.script = begun(words('Part one'), opened, ...rest(', part two'))
    await say(given(), 'Both')
    await messages(given()).getByText('Part one').waitFor()
    await page.getByRole('link', { name: 'Board' }).click()
    await page.getByText('No tasks yet').waitFor()
    goOn()
    await page.getByRole('link', { name: 'Conversation' }).click()
    await messages(given()).getByText('Part one, part two').waitFor()
    await page.getByRole('button', { name: 'Send' }).waitFor()
  })

  it('goes on in the server while the page is loaded again, and is read again there', async () => {
    const { page, inspect } = given()
    const { read } = await conversation(given())
    const { opened, open: goOn } = gate()
    const { opened: openedAgain, open: goOnAgain } = gate()
    upstream.script = begun(words('Part one'), opened, piece(words(', part two')[1]), openedAgain, ...rest('.'))
    await say(given(), 'Both')
    await messages(given()).getByText('Part one').waitFor()
    await composer(given()).fill('A draft')
    await page.reload()
    await messages(given()).getByText('Part one').waitFor()
    expect(await composer(given()).inputValue()).toBe('A draft')
    goOn()
    await messages(given()).getByText('Part one, part two').waitFor()
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    await inspect('console-conversation-after-reload')
    expect(upstream.open).toBe(1)
    goOnAgain()
    await messages(given()).getByText('Part one, part two.').waitFor()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    // What it is, and what it cost.
    await messages(given())
      .getByText(/^gpt-4o-mini · \d+ tokens · \$0\.0/)
      .waitFor()
    await page.getByText('Conversation: 1 request ·').waitFor()
    expect(await read()).toEqual([
      ['user', 'Both'],
      ['assistant', 'Part one, part two.'],
    ])
    // Of somebody else, the tab shows nothing.
    await page.evaluate(
      `sessionStorage.setItem('turnpike-unsent', sessionStorage.getItem('turnpike-unsent').replace('${given().person.id}', 'x'))`,
    )
    await page.reload()
    await messages(given()).getByText('Part one, part two.').waitFor()
    expect(await composer(given()).inputValue()).toBe('')
  })

  it('is stopped after the page was loaded again, and before it begins', async () => {
    const { page } = given()
    const { read } = await conversation(given())
    upstream.script = begun(words('Once upon'))
    await say(given(), 'A story')
    await messages(given()).getByText('Once upon').waitFor()
    await page.reload()
    await messages(given()).getByText('Once upon').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('You stopped it here').waitFor()
    upstream.requests = 0
    upstream.script = [new Promise(() => undefined)]
    await say(given(), 'Another one')
    await expect.poll(() => upstream.requests).toBe(1)
    await page.getByRole('button', { name: 'Stop' }).click()
    await expect.poll(() => page.getByText('You stopped it here').count()).toBe(2)
    await page.getByRole('button', { name: 'Send' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await read()).toEqual([
      ['user', 'A story'],
      ['assistant', 'Once upon', 'stopped'],
      ['user', 'Another one'],
      ['assistant', '', 'stopped'],
    ])
    await expect.poll(() => upstream.open).toBe(0)
  })

  it('sends a changed message as a new one, after it said that this is billed again', async () => {
    const { page, inspect } = given()
    const { read } = await conversation(given())
    upstream.script = whole('A yellow house')
    await say(given(), 'Draw a hose')
    await messages(given()).getByText('A yellow house').waitFor()
    await composer(given()).fill('A draft')
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByText('billed again').waitFor()
    await expect.poll(() => composer(given()).inputValue()).toBe('Draw a hose')
    await inspect('console-conversation-edit')
    await composer(given()).press('Escape')
    expect(await composer(given()).inputValue()).toBe('A draft')
    await page.getByRole('button', { name: 'Edit' }).click()
    await composer(given()).fill('Draw a house')
    await composer(given()).press('Enter')
    await expect.poll(read).toEqual([
      ['user', 'Draw a hose'],
      ['assistant', 'A yellow house'],
      ['user', 'Draw a house'],
      ['assistant', 'A yellow house'],
    ])
    expect(await composer(given()).inputValue()).toBe('A draft')
    await composer(given()).fill('')
    await page.getByRole('button', { name: 'Copy' }).last().click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('A yellow house')
  })

  it('sends files that were uploaded, pasted, dropped and chosen, and shows them with their message', async () => {
    const { page, person, inspect } = given()
    await person.client.upload(new Blob(['a,b'], { type: 'text/csv' }), { name: 'toll.csv' })
    await person.client.upload(new Blob(['x'], { type: 'application/zip' }), { name: 'all.zip' })
    const { id } = await conversation(given())
    await page.getByText('No messages yet').waitFor()
    const gate = { name: 'gate.png', mimeType: 'image/png', buffer: largePng(64) }
    await page.locator('.composer input[type=file]').setInputFiles([gate, { ...gate, name: 'no.exe', mimeType: 'a/b' }])
    await page.getByText('No model reads this kind of file.').waitFor()
    await page.getByRole('button', { name: 'Remove no.exe' }).click()
    const dataTransfer = await page.evaluateHandle(`(() => {
      const data = new DataTransfer()
      data.items.add(new File(['dropped'], 'dropped.txt', { type: 'text/plain' }))
      return data
    })()`)
    await page.locator('.thread').dispatchEvent('drop', { dataTransfer })
    await page.evaluate(`(() => {
      const clipboardData = new DataTransfer()
      clipboardData.items.add(new File(['pasted'], 'pasted.txt', { type: 'text/plain' }))
      document.querySelector('textarea').dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }))
    })()`)
    const toSend = page.getByRole('list', { name: 'Files to send' })
    for (const name of ['dropped.txt', 'pasted.txt'])
      await toSend.getByRole('button', { name: `Remove ${name}` }).waitFor()
    await page.getByRole('button', { name: 'Attach files' }).click()
    await page.getByRole('menuitem', { name: 'Choose from your files' }).click()
    expect(await page.getByRole('checkbox', { name: 'all.zip' }).isDisabled()).toBe(true)
    await page.getByRole('checkbox', { name: 'toll.csv' }).check()
    await inspect('console-conversation-choose')
    await page.getByRole('button', { name: 'Done' }).click()
    await toSend.getByText('toll.csv').waitFor()
    await composer(given()).fill('What is it?')
    // They are kept with the text.
    await page.reload()
    await toSend.locator('img').waitFor()
    expect(await composer(given()).inputValue()).toBe('What is it?')
    await page.getByRole('button', { name: 'Remove pasted.txt' }).click()
    await inspect('console-conversation-attach')
    upstream.script = whole('A gate')
    await composer(given()).press('Enter')
    await messages(given()).getByText('A gate').waitFor()
    expect(await toSend.count()).toBe(0)
    const { messages: stored } = await person.client.get('/api/projects/{id}/conversation', { params: { id } })
    const names = stored[0]!.attachments!.map(({ display_name }) => display_name)
    expect(names.toSorted()).toEqual(['dropped.txt', 'gate.png', 'toll.csv'])
    await messages(given()).locator('img').waitFor()
    await messages(given()).getByRole('button', { name: 'toll.csv' }).click()
    await page.getByRole('dialog', { name: 'toll.csv' }).getByText('a,b').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Edit' }).click()
    await toSend.getByText('gate.png').waitFor()
    await composer(given()).press('Escape')
    await inspect('console-conversation-attached')
  })

  it('folds thoughts, and scrolls only the messages', async () => {
    const { page, inspect } = given()
    await conversation(given())
    const { opened, open: goOn } = gate()
    upstream.script = begun([thought('Let me see. '), ...words('word '.repeat(2_000))], opened, ...rest('the end'))
    await say(given(), 'Much')
    await messages(given()).getByText('word').first().waitFor()
    await page.getByText('Thoughts').waitFor()
    expect(await page.getByText('Let me see.').isVisible()).toBe(false)
    await page.getByText('Thoughts').click()
    await page.getByText('Let me see.').waitFor()
    await inspect('console-conversation-thoughts')
    const isInView = (name: string) => page.getByText(name, { exact: true }).isVisible()
    expect(await page.evaluate('document.documentElement.scrollHeight <= innerHeight')).toBe(true)
    const thread = page.getByRole('region', { name: 'All messages' })
    const fromEnd = () => thread.evaluate((all) => all.scrollHeight - all.scrollTop - all.clientHeight)
    await thread.evaluate((all) => all.scrollTo(0, 0))
    await page.getByRole('button', { name: 'To the end' }).waitFor()
    goOn()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    // Who reads above stays there.
    expect(await fromEnd()).toBeGreaterThan(500)
    expect([await isInView('Board'), await composer(given()).isVisible()]).toEqual([true, true])
    await page.getByRole('button', { name: 'To the end' }).click()
    await expect.poll(fromEnd).toBeLessThan(2)
    await expect.poll(() => page.getByRole('button', { name: 'To the end' }).count()).toBe(0)
  })

  it('tells screen readers of an answer every few seconds', async () => {
    const { page } = given()
    await page.clock.install()
    await conversation(given())
    await page.evaluate(`
      globalThis.told = []
      new MutationObserver(() => {
        const { textContent } = document.querySelector('.conversation > .visually-hidden[role=status]')
        if (told.at(-1) !== textContent) told.push(textContent)
      }).observe(document.querySelector('.conversation'), { childList: true, subtree: true, characterData: true })`)
    const { opened, open: goOn } = gate()
    upstream.script = begun(words('a ', 'b ', 'c'), opened, ...rest(' d'))
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
})

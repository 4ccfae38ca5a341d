import { afterAll, expect, it } from 'vitest'
import type { Body } from '../../examples/console/src/playground/request.js'
import { answer, begun, chunksOf, done, event, stream } from '../faults/wire.js'
import { rawUpstream } from '../support/raw-upstream.js'
import type { Given } from './console.js'
import { consoleSuite, gate, PASSWORD, signIn, signOut } from './console.js'
import { payloads } from './payloads.js'

const upstream = await rawUpstream()
afterAll(() => upstream.close())
const chunk = chunksOf('chatcmpl-1', 'gpt-4o-mini')
const usage = (prompt_tokens: number, completion_tokens: number): string =>
  event({
    ...(JSON.parse(chunk({}).slice(6)) as object),
    choices: [],
    usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
  })
const whole = (...pieces: object[]) =>
  stream(...pieces.map((piece) => chunk(piece)), chunk({}, 'stop'), usage(1_200, 50), done)

const text = ({ page }: Given, n: number) => page.getByRole('textbox', { name: `Message ${n}`, exact: true })
/** Shows a part of the page: on a phone, parts are tabs. */
async function show({ page, look }: Given, part: number): Promise<void> {
  if (look.size === 'phone') await page.getByRole('tab').nth(part).click()
}
/** Does something, and returns the requests to models that follow. */
async function sent({ page }: Given, models: number, act: () => Promise<unknown>): Promise<unknown[]> {
  const bodies: unknown[] = []
  const listener = (request: { url(): string; postDataJSON(): unknown }): void => {
    if (request.url().endsWith('/api/gateway/v1/chat/completions')) bodies.push(request.postDataJSON())
  }
  page.on('request', listener)
  await act()
  await expect.poll(() => bodies.length).toBe(models)
  page.off('request', listener)
  return bodies
}

consoleSuite(
  'the playground of the console',
  (given) => {
    it('streams an answer by keys alone, tells what it cost, and is stopped', async () => {
      const { page, open, inspect } = given()
      await open('/playground', 'Playground')
      await page
        .getByRole('combobox', { name: 'Model 1: model' })
        .or(page.getByRole('tab', { name: 'gpt-4o-mini' }))
        .first()
        .waitFor()
      await inspect('console-playground-empty')
      const { opened, open: goOn } = gate()
      upstream.script = begun(
        [chunk({ reasoning_content: 'They greet.' }), chunk({ content: 'A **good** mor' })],
        opened,
        ...stream(chunk({ content: 'ning' }), chunk({}, 'length'), usage(1_200, 50), done).slice(1),
      )
      await text(given(), 1).fill('Hello')
      expect(await sent(given(), 1, () => page.keyboard.press('Control+Enter'))).toEqual([
        {
          model: 'gpt-4o-mini',
          messages: [{ role: 'user', content: 'Hello' }],
          stream: true,
          stream_options: { include_usage: true },
        },
      ])
      // The answer is shown while it comes.
      await page.locator('.answer strong').getByText('good').waitFor()
      expect(await page.getByText('They greet.').isVisible()).toBe(false)
      await page.getByText('Thoughts').click()
      await page.getByText('They greet.').waitFor()
      await inspect('console-playground-streaming')
      goOn()
      await page.getByText('A good morning').waitFor()
      await page.getByText('It ends here because it reached the limit of tokens.').waitFor()
      const figures = async () => (await page.locator('.run-figures').textContent())!
      expect(await figures()).toMatch(/^Cost\$0\.00021First token\d.*Total\d.*Tokens1,200 in, 50 out$/)
      await page.getByText('Why openai').click()
      await page.getByText('openai is the first that can answer, in the order of the configuration.').waitFor()

      upstream.script = begun([chunk({ content: 'Part one' })])
      await page.getByRole('button', { name: 'Run' }).last().click()
      await page.locator('.answer').getByText('Part one').waitFor()
      await page.getByRole('button', { name: 'Stop', exact: true }).click()
      await page.getByText('You stopped it here.').waitFor()
      await expect.poll(() => upstream.open).toBe(0)
    })

    it('asks two models with what was set, and shows calls, warnings and why', async () => {
      const { page, inspect } = given()
      await page.getByRole('button', { name: 'Add model' }).click()
      const picker = page.getByRole('combobox', { name: 'Model 2: model' })
      await picker.press('ArrowDown')
      await picker.fill('text-embedding-3-small')
      const vectors = page.getByRole('option', { name: 'Not for chat: makes vectors' })
      await vectors.waitFor()
      await picker.press('Enter')
      expect(await picker.getAttribute('aria-expanded')).toBe('true')
      await picker.press('Escape')
      expect(await picker.inputValue()).toBe('gpt-4o-mini')
      await picker.fill('quick')
      await page.getByRole('group', { name: 'Groups' }).getByRole('option', { name: 'quick' }).waitFor()
      await inspect('console-playground-picker')
      await picker.press('Enter')
      await page.getByRole('combobox', { name: 'Model 2: provider' }).selectOption('auto')
      await show(given(), 0)
      await page.getByLabel('System prompt').fill('Be brief.')
      await page.getByText('Parameters', { exact: true }).click()
      await page.getByLabel('Temperature').fill('0.5')
      await page.getByText('Tools', { exact: true }).click()
      await page.getByRole('textbox', { name: 'List of tools' }).fill('{')
      await page.getByText('This is not JSON.').first().waitFor()
      await page.getByRole('textbox', { name: 'List of tools' }).fill('')
      await page.getByRole('button', { name: 'Insert an example' }).click()
      const call = {
        index: 0,
        id: 'call_1',
        type: 'function',
        function: { name: 'get_weather', arguments: JSON.stringify({ city: 'Rome', note: payloads.join(' ') }) },
      }
      upstream.script = whole({ tool_calls: [call] })
      const bodies = await sent(given(), 2, () => text(given(), 1).press('Control+Enter'))
      expect(bodies).toMatchObject([
        { model: 'gpt-4o-mini', temperature: 0.5, messages: [{ role: 'system' }, { role: 'user' }] },
        { model: 'quick', provider: 'auto', temperature: 0.5, tools: [{ function: { name: 'get_weather' } }] },
      ])
      await show(given(), 2)
      await page.getByText('The model does not take this, so it was left out: temperature.').last().waitFor()
      await page.getByText('Why openai').last().click()
      await page.getByRole('list', { name: 'Compared' }).last().getByText('openai/gpt-5-nano').waitFor()
      await page.locator('.column').last().locator('.call').getByText('"Rome"').waitFor()
      await inspect('console-playground')

      // The result of a call is typed, and sent with it.
      await page.getByRole('button', { name: 'Go on from here' }).last().click()
      await expect
        .poll(() =>
          text(given(), 3).evaluate(
            (one) =>
              one === (one as unknown as { ownerDocument: { activeElement: unknown } }).ownerDocument.activeElement,
          ),
        )
        .toBe(true)
      await page.keyboard.type('Sunny')
      upstream.script = whole({
        content: `${payloads.join('\n\n')}\n\n| It | is |\n|---|---|\n| sunny | **now** |\n\n- first\n- second`,
      })
      const [body] = await sent(given(), 2, () => page.keyboard.press('Control+Enter'))
      expect((body as Body).messages.slice(2)).toMatchObject([
        { role: 'assistant', content: null, tool_calls: [{ id: 'call_1' }] },
        { role: 'tool', tool_call_id: 'call_1', content: 'Sunny' },
      ])
      await show(given(), 1)
      await page.locator('.answer').first().getByRole('cell', { name: 'sunny' }).waitFor()
      // The styles of the board, which are loaded with the first page, leave the items of an answer below each other.
      const [first, second] = await Promise.all(
        ['first', 'second'].map((name) => page.locator('.answer li').filter({ hasText: name }).first().boundingBox()),
      )
      expect(second!.y).toBeGreaterThan(first!.y)
      expect(await page.evaluate('globalThis.hit')).toBeUndefined()
    })

    it('shows an error in its column, with its code', async () => {
      const { page, inspect } = given()
      upstream.script = [answer(429, '{"error":{"message":"Slow down"}}')]
      await page.getByRole('button', { name: 'Run' }).and(page.locator('.column button')).first().click()
      await page.getByText('rate_limit_error · rate_limit_exceeded').first().waitFor()
      await inspect('console-playground-error')
    })

    it('adds pictures, and shows the code of what is sent, without a secret', async () => {
      const { page, server, inspect } = given()
      await show(given(), 0)
      await page.getByRole('button', { name: 'Add a picture to Message 1' }).click()
      await page.getByLabel('URL of a picture').fill('https://example.org/a.png')
      await page.keyboard.press('Enter')
      await page
        .locator('.turn input[type=file]')
        .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('0'.repeat(300)) })
      await page.getByRole('img', { name: 'Picture 2' }).waitFor()
      await page.evaluate(`{
        const data = new DataTransfer()
        data.items.add(new File(['1'], 'b.png', { type: 'image/png' }))
        document.querySelector('.turn textarea').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
      }`)
      await page.getByRole('img', { name: 'Picture 3' }).waitFor()
      await page.getByRole('button', { name: 'Remove picture 3' }).click()
      await page.getByRole('button', { name: 'View code' }).click()
      const dialog = page.getByRole('dialog', { name: 'Code' })
      await dialog.getByText('Pictures are cut short here').waitFor()
      await inspect('console-playground-code')
      for (const language of ['TypeScript', 'Python', 'curl']) {
        await dialog.getByRole('button', { name: language }).click()
        await dialog.getByRole('button', { name: 'Copy' }).click()
        await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain('MDAw'.repeat(100))
        const code = await page.evaluate<string>('navigator.clipboard.readText()')
        expect(code).toContain(`${server.url}/v1`)
        expect(code).toContain('GATEWAY_KEY')
        expect(code).not.toContain('gw-')
      }
      await page.keyboard.press('Escape')
    })

    it('keeps what is typed and presets until somebody signs out', async () => {
      const { page, person, open, inspect } = given()
      await page.getByRole('button', { name: 'Presets' }).click()
      await page.getByLabel('Save what is typed as').fill('Weather')
      await page.keyboard.press('Enter')
      await page.getByText('Saved.').waitFor()
      await inspect('console-playground-presets')
      await page.keyboard.press('Escape')
      await page.reload()
      await expect.poll(() => text(given(), 3).inputValue()).toBe('Sunny')
      expect(await page.getByRole('img', { name: 'Picture 2' }).count()).toBe(1)
      await page.getByRole('button', { name: 'Reset', exact: true }).click()
      await page.getByRole('button', { name: 'Empty it' }).click()
      await expect.poll(() => text(given(), 1).inputValue()).toBe('')
      expect(await text(given(), 2).count()).toBe(0)
      await page.getByRole('button', { name: 'Presets' }).click()
      await page.getByRole('button', { name: 'Weather', exact: true }).click()
      await expect.poll(() => text(given(), 3).inputValue()).toBe('Sunny')

      const kept = 'Object.keys(localStorage).filter((key) => key.startsWith("turnpike-kept-")).length'
      expect(await page.evaluate(kept)).toBe(2)
      // Also where the playground was not opened.
      await open('/files', 'Files')
      await page.reload()
      await page.getByRole('heading', { level: 1, name: 'Files' }).waitFor()
      await signOut(given())
      await page.getByLabel('E-mail').waitFor()
      expect(await page.evaluate(kept)).toBe(0)
      await signIn(given(), person.email, PASSWORD)
      await open('/playground', 'Playground')
      expect(await text(given(), 1).inputValue()).toBe('')
    })
  },
  {
    role: 'user',
    env: {
      OPENAI_API_KEY: 'sk-upstream',
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      MODEL_GROUPS: 'quick=gpt-5-nano,gpt-5-mini',
    },
  },
)

import { readFileSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import { begun } from '../faults/wire.js'
import { rawUpstream } from '../support/raw-upstream.js'
import type { Given } from './console.js'
import { gate } from './console.js'
import { conversation, conversationSuite, messages, more, rest, say, whole, words } from './console-conversation.js'
import { change, project } from './console-tasks.js'
import { richText } from './markdown-text.js'
import { payloads } from './payloads.js'

const upstream = await rawUpstream()
afterAll(() => upstream.close())

/** A picture that people see in the pages. */
const picture = new Blob([readFileSync(new URL('../../docs/images/dashboard.webp', import.meta.url))], {
  type: 'image/webp',
})

/** Opens a task whose draft waits. */
async function waiting(given: Given, draft: string, output?: string) {
  const made = await project(given.person, 'Announcement', { requiresUserApproval: true })
  if (output !== undefined) await change(given, made.task.id, { output })
  await change(given, made.task.id, { status: 'waiting_approval', draft_output: draft })
  await given.open(`/projects/${made.id}?task=${made.task.id}`, 'Website')
  return made
}

conversationSuite('Markdown in the console', upstream, (given) => {
  it('is shown as it is meant, with code that is highlighted and copied, and as its source', async () => {
    const { page, person, inspect } = given()
    const { url } = await person.client.upload(picture, { fields: { displayName: 'board.webp' } })
    const text = `${richText}\n![The board](${url})\n`
    await waiting(given(), text)
    const shown = page.locator('.markdown')
    await shown.getByRole('heading', { name: 'Launch plan for the gateway' }).waitFor()
    await shown.locator('.hljs-keyword').first().waitFor()
    expect(
      await page.evaluate('[...document.querySelectorAll(".markdown input")].map(({ checked }) => checked)'),
    ).toEqual([true, false, false])
    // The picture of the platform is there, that of another host is a link.
    await shown.getByRole('img', { name: 'The board' }).scrollIntoViewIfNeeded()
    await expect.poll(() => page.evaluate('document.querySelector(".markdown img").naturalWidth')).toBeGreaterThan(0)
    expect(await shown.getByRole('link', { name: 'The route of a request' }).getAttribute('href')).toBe(
      'https://elsewhere.example/route.png',
    )
    await inspect('console-markdown')
    await shown.getByRole('button', { name: 'Copy' }).last().click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      'curl "$BASE/v1/models" -H "Authorization: Bearer $KEY" | jq \'.data | length\'',
    )
    await page.getByRole('button', { name: 'Source' }).first().click()
    expect(await page.locator('.with-tools > .text').textContent()).toBe(text)
    await page.locator('.tools').getByRole('button', { name: 'Copy' }).first().click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(text)
  })

  it('that changed is told by its words', async () => {
    const { page, inspect } = given()
    const draft = richText
      .replace('*five customers*', '*eight customers*')
      .replace('3. Send it', '3. Send it on Monday')
      .replace('- [ ] Somebody has the pager\n', '')
    await waiting(given(), draft, richText)
    await page.getByText('Sentences: 2 changed, 1 removed.').waitFor()
    expect(await page.locator('.diff :is(del, ins)').allTextContents()).toEqual([
      'five',
      'eight',
      ' on Monday',
      'Somebody has the pager',
    ])
    await inspect('console-markdown-diff')
    await page
      .getByRole('button', { name: /^Show \d+ parts that are the same$/ })
      .first()
      .click()
    await page.locator('.diff').getByRole('heading', { name: 'How to try it' }).waitFor()
  })

  it('does not move while it is written, and is the same once it is', async () => {
    const { page } = given()
    await conversation(given())
    const { opened, open: goOn } = gate()
    const at = richText.indexOf('claude-haiku')
    upstream.script = begun(words(richText.slice(0, at)), opened, ...rest(richText.slice(at)))
    await say(given(), 'The **plan**')
    await messages(given()).first().locator('strong').getByText('plan').waitFor()
    const growing = messages(given()).nth(1).locator('.markdown')
    await growing.getByRole('cell', { name: 'default' }).waitFor()
    await page.evaluate(`
      globalThis.gone = []
      new MutationObserver((records) => gone.push(...records.flatMap(({ removedNodes }) => [...removedNodes].map(({ textContent }) => textContent))))
        .observe(document.querySelector('.growing'), { childList: true, subtree: true })`)
    goOn()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    await messages(given()).nth(1).getByText('Questions go to').waitFor()
    expect(await page.evaluate('gone.filter((text) => text.trim() !== "")')).toEqual([])
  })

  it('of 200 kB is laid out once, block by block', async () => {
    const { page } = given()
    await conversation(given())
    const pieces = richText.repeat(110).match(/[^]{1,200}/g)!
    const [seen, half] = [gate(), gate()]
    const [first, second] = [pieces.slice(10, 600), pieces.slice(600)].map((all) => all.map(more))
    upstream.script = begun(
      words(...pieces.slice(0, 10)),
      seen.opened,
      ...first!,
      half.opened,
      ...second!,
      ...rest('The end'),
    )
    await say(given(), 'All of it')
    await page.locator('.growing h3').first().waitFor()
    await page.evaluate('globalThis.heading = document.querySelector(".growing h3")')
    seen.open()
    await page.locator('.growing table').nth(50).waitFor()
    expect(await page.evaluate('document.querySelector(".growing h3") === heading')).toBe(true)
    half.open()
    await messages(given()).getByText('The end').waitFor()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    expect(await messages(given()).nth(1).locator('table').count()).toBe(110)
  })

  it('threat 81: a bomb of Markdown does not freeze the page', { timeout: 300_000 }, async () => {
    const { page, person, open } = given()
    const many = (text: string): string => text.repeat(1_000_000 / text.length)
    for (const text of [
      many('> '),
      `| a | b |\n|---|---|\n${many('| one | two |\n')}`,
      many(`${'|a'.repeat(300)}\n${'|-'.repeat(300)}\n${'a\n'.repeat(200)}\n`),
      many('a\n\n'),
    ]) {
      const made = await project(person, 'Bomb')
      await change(given(), made.task.id, { output: text, status: 'done' })
      await open(`/projects/${made.id}?task=${made.task.id}`, 'Website')
      await page.getByRole('button', { name: 'Source' }).click()
      await page.getByRole('button', { name: 'Source' }).click()
      await page.locator('.document').waitFor()
      // All of it is there, with no more elements than a page can have.
      await expect
        .poll(() => page.evaluate('document.querySelector(".document").textContent.length'), { timeout: 60_000 })
        .toBeGreaterThan(200_000)
      expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(150_000)
      // The time that styles take grows with the elements within one.
      expect(
        await page.evaluate(
          'Math.max(...[...document.querySelectorAll(".document, .document *")].map(({ children }) => children.length))',
        ),
      ).toBeLessThan(5_000)
      await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
    }
  })

  it('threat 81: the address of pictures without a name, which a text has once, is cut where each is shown', async () => {
    const { page, person, open } = given()
    const made = await project(person, 'Pictures')
    const address = `https://pictures.example/${'a'.repeat(9_000)}`
    await change(given(), made.task.id, { output: `[r]: ${address}\n\n${'![][r] '.repeat(20)}`, status: 'done' })
    await open(`/projects/${made.id}?task=${made.task.id}`, 'Website')
    const pictures = page.locator(`.document a[href="${address}"]`)
    await pictures.nth(19).waitFor()
    expect(await pictures.first().textContent()).toBe(address.slice(0, 100))
  })

  it('threat 23: payloads are text in drafts, diffs and answers, and nothing is asked of other hosts', async () => {
    const { page, faults } = given()
    const urls = [
      'javascript:hit=1',
      'data:text/html,<script>hit=1</script>',
      'vbscript:hit',
      '//evil.example/a',
      'https://evil.example/a.png',
      'file:///etc/passwd',
      '/api/account',
      'JaVaScRiPt:hit=1',
      ' javascript:hit=1',
      'java\nscript:hit=1',
      '&#106;avascript:hit=1',
      'blob:https://evil.example/a',
    ]
    const forms = (text: string): string[] => [
      `[a](${text})`,
      `![a](${text})`,
      `[a](<${text}>)`,
      `<${text}>`,
      `[a]: ${text}\n\n[a]`,
      text,
      `**${text}**`,
      `| ${text} |\n|---|\n| ${text} |`,
      `- [ ] ${text}`,
      `\`\`\`${text}\n${text}\n\`\`\``,
      `> # ${text}`,
    ]
    const all = [...payloads, ...urls].flatMap(forms).join('\n\n')
    const check = async (): Promise<void> => {
      await page.waitForTimeout(300)
      expect(
        await page.evaluate(
          '[document.querySelectorAll("script").length, document.querySelectorAll("iframe, base, style, math, form form, object, embed, .markdown img").length]',
        ),
      ).toEqual([1, 0])
      expect(
        await page.evaluate(
          '[...document.querySelectorAll(".markdown a")].filter((one) => !/^(https?|mailto):/.test(one.getAttribute("href")) || one.target !== "_blank" || !/noopener noreferrer nofollow/.test(one.rel)).length',
        ),
      ).toBe(0)
      expect(faults).toEqual([])
      expect(await page.evaluate('globalThis.hit')).toBeUndefined()
    }
    await waiting(given(), all)
    await page.locator('.markdown').getByText('constructor.constructor').first().waitFor()
    await check()
    await waiting(given(), all.replaceAll('hit', 'hit and run'), all)
    await page.getByText('Sentences: ').waitFor()
    await check()
    await conversation(given())
    upstream.script = whole(all)
    await say(given(), all)
    await page.getByRole('button', { name: 'Send' }).waitFor()
    await messages(given()).nth(1).waitFor()
    await check()
  })
})

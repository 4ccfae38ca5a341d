import type { Locator, Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { thorough } from '../support/scope.js'
import { consoleSuite } from './console.js'
import { column, columnButton, inColumn, project, read } from './console-tasks.js'
import { looks } from './visitor.js'

/** The text of what has the focus. */
const focused = (page: Page): Promise<string> => page.evaluate('document.activeElement.textContent')

consoleSuite(
  'moves of cards on the task board',
  (given) => {
    it('moves cards by hand and by keys, one or several, and asks before an approval is skipped', async () => {
      const { page, person, open, inspect } = given()
      const { id, task } = await project(person, 'Headline', { requiresUserApproval: true })
      await open(`/projects/${id}`, 'Website')
      const status = async (): Promise<string> => (await read(given(), task.id)).status
      const drag = async (to: string): Promise<void> => {
        const from = (await page.getByRole('link', { name: 'Headline' }).boundingBox())!
        const over = (await column(given(), to).boundingBox())!
        await page.mouse.move(from.x + 5, from.y + 5)
        await page.mouse.down()
        await page.mouse.move(over.x + 60, over.y + 200, { steps: 4 })
      }
      await drag('Running')
      await inspect('console-board-drag')
      await page.keyboard.press('Escape')
      await page.mouse.up()
      expect(await status()).toBe('scheduled')
      await drag('Running')
      await page.mouse.up()
      await expect.poll(status).toBe('running')
      // The end of a drag opens nothing.
      expect(await page.getByRole('dialog').count()).toBe(0)
      // Nor does one that ends where it began.
      await drag('Running')
      const own = (await page.getByRole('link', { name: 'Headline' }).boundingBox())!
      await page.mouse.move(own.x + 20, own.y + 8)
      await page.mouse.up()
      await page.waitForTimeout(100)
      expect(await page.getByRole('dialog').count()).toBe(0)
      await drag('Done')
      await page.mouse.up()
      await page.getByText('Moving to Done skips that').waitFor()
      await page.getByRole('button', { name: 'Cancel' }).click()
      await column(given(), 'Running').getByRole('link', { name: 'Headline' }).waitFor()

      // A card is one tab stop.
      await page.getByRole('button', { name: 'Add a task to Scheduled' }).click()
      for (const title of ['One', 'Two']) {
        await page.getByLabel('Title of the new task').fill(title)
        await page.keyboard.press('Enter')
        await column(given(), 'Scheduled').getByRole('link', { name: title }).waitFor()
      }
      await page.keyboard.press('Escape')
      expect(await page.getByLabel('Title of the new task').count()).toBe(0)
      await page.keyboard.press('Tab')
      expect(await focused(page)).toBe('Two')
      await page.keyboard.press('Tab')
      expect(await focused(page)).toBe('One')
      await page.keyboard.press('ArrowRight')
      await expect.poll(() => focused(page)).toBe('Headline')
      await page.keyboard.press('Space')
      await page.getByText('“Headline” is taken from Running.').waitFor()
      await page.keyboard.press('ArrowRight')
      await page.getByText('Over Waiting for approval.').waitFor()
      await page.keyboard.press('Escape')
      await page.getByText('“Headline” stays in Running.').waitFor()
      await page.keyboard.press('Space')
      await page.keyboard.press('ArrowRight')
      await page.keyboard.press('Space')
      await expect.poll(status).toBe('waiting_approval')
      await expect.poll(() => focused(page)).toBe('Headline')

      await page.keyboard.press('x')
      await page.keyboard.press('ArrowLeft')
      await expect.poll(() => focused(page)).toBe('Two')
      await page.keyboard.press('x')
      await inspect('console-board-selected')
      await page.getByRole('button', { name: 'Move the selected tasks' }).click()
      await page.getByRole('menuitem', { name: 'Failed' }).click()
      await page.getByText('2 tasks are moved to Failed.').waitFor()
      await page.getByRole('button', { name: 'Undo' }).last().click()
      await page.getByText('2 tasks are moved back.').waitFor()
      expect(await status()).toBe('waiting_approval')
    })

    it('says what was done as long as somebody looks at it', async () => {
      const { page, person, open } = given()
      const { id } = await project(person, 'Headline')
      await page.clock.install()
      await open(`/projects/${id}`, 'Website')
      await page.getByRole('button', { name: 'Move “Headline”' }).click()
      await page.getByRole('menuitem', { name: 'Running' }).click()
      const toast = page.getByRole('listitem').filter({ hasText: '“Headline” is moved to Running.' }).last()
      await toast.hover()
      await page.clock.fastForward(60_000)
      await toast.getByRole('button', { name: 'Undo' }).focus()
      await page.mouse.move(5, 5)
      await page.clock.fastForward(60_000)
      await toast.waitFor()
      await page.getByRole('link', { name: 'Headline' }).focus()
      await page.clock.fastForward(11_000)
      expect(await toast.count()).toBe(1)
      await page.clock.fastForward(2_000)
      await toast.waitFor({ state: 'detached' })
    })
  },
  { only: looks.filter(({ size }) => size === 'desktop') },
)

consoleSuite(
  'the task board on a phone',
  (given) => {
    it('shows a column at a time, and moves a card by a long press', async () => {
      const { page, context, person, open, inspect } = given()
      const { id, task } = await project(person, 'Headline')
      await open(`/projects/${id}`, 'Website')
      const card = page.getByRole('link', { name: 'Headline' })
      await card.waitFor()
      expect(await column(given(), 'Failed').isVisible()).toBe(false)
      await inspect('console-board-column')
      const center = async (of: Locator): Promise<{ x: number; y: number }> => {
        const { x, y, width, height } = (await of.boundingBox())!
        return { x: x + width / 2, y: y + height / 2 }
      }
      const touch = await context.newCDPSession(page)
      const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: { x: number; y: number }[]) =>
        touch.send('Input.dispatchTouchEvent', { type, touchPoints })
      await send('touchStart', [await center(card)])
      await page.locator('.ghost').waitFor()
      await send('touchMove', [await center(columnButton(given(), 'Failed'))])
      await send('touchEnd', [])
      await expect.poll(async () => (await read(given(), task.id)).status).toBe('failed')
      await inColumn(given(), 'Failed', 'Headline')
    })
  },
  { only: looks.filter(({ size }) => size === 'phone'), skip: !thorough },
)

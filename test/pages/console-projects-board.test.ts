import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { consoleSuite, gate } from './console.js'
import { change, column, project, read } from './console-tasks.js'
import { looks } from './visitor.js'

/** The text of what has the focus. */
const focused = (page: Page): Promise<string> => page.evaluate('document.activeElement.textContent')

consoleSuite(
  'the task board of the console',
  (given) => {
    it('has five columns, makes tasks and moves them by a menu', async () => {
      const { page, person, open, inspect } = given()
      const { id, task } = await project(person, 'Headline')
      await open(`/projects/${id}`, 'Website')
      await page.getByRole('button', { name: 'New task' }).click()
      await page.getByLabel('Title', { exact: true }).fill('Tag line')
      await page.getByLabel('Description').fill('Three words.')
      const agent = page.getByRole('dialog').getByLabel('Agent')
      // The first of the team, so that somebody begins.
      await expect.poll(() => agent.inputValue()).not.toBe('')
      await agent.selectOption({ label: 'Nobody' })
      await page.getByText('Nobody starts it.').waitFor()
      await agent.selectOption({ label: 'Writer: Writes drafts' })
      await inspect('console-task-new')
      await page.getByRole('button', { name: 'Create task' }).click()
      await column(given(), 'Scheduled').getByRole('link', { name: 'Tag line' }).waitFor()
      await column(given(), 'Scheduled').getByText('needs your approval').waitFor()
      expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual([
        'Scheduled',
        'Running',
        'Waiting for approval',
        'Done',
        'Failed',
      ])
      await page.getByRole('button', { name: 'Move “Headline”' }).click()
      await expect
        .poll(() => page.getByRole('menuitem').allTextContents())
        .toEqual(['Running', 'Waiting for approval', 'Done', 'Failed'])
      await inspect('console-board-menu')
      await page.getByRole('menuitem', { name: 'Failed' }).click()
      await column(given(), 'Failed').getByRole('link', { name: 'Headline' }).waitFor()
      await page.getByText('“Headline” is moved to Failed.').waitFor()
      await expect.poll(() => focused(page)).toBe('Headline')
      expect(await read(given(), task.id)).toMatchObject({ status: 'failed' })
      await page.getByRole('button', { name: 'Undo' }).click()
      await column(given(), 'Scheduled').getByRole('link', { name: 'Headline' }).waitFor()
      await inspect('console-board')
      // On a phone, the columns to choose stay below the bar when the page is scrolled.
      const window = page.viewportSize()!
      await page.setViewportSize({ width: 390, height: 300 })
      await page.evaluate('scrollTo(0, document.body.scrollHeight)')
      const edges = '[".top", ".column-switch"].map((part) => document.querySelector(part).getBoundingClientRect())'
      await expect.poll(() => page.evaluate(`(([bar, columns]) => columns.top - bar.bottom)(${edges})`)).toBe(0)
      await page.setViewportSize(window)
    })

    it('shows some tasks, or all as a list, by its address', async () => {
      const { page, person, open, inspect } = given()
      const { id } = await project(person, 'Headline')
      await person.client.post('/api/tasks', { body: { projectId: id, title: 'Apple', requiresUserApproval: true } })
      await open(`/projects/${id}`, 'Website')
      await page.getByRole('link', { name: 'Apple' }).waitFor()
      await page.getByLabel('Agent', { exact: true }).selectOption({ label: 'Writer' })
      await page.getByRole('link', { name: 'Apple' }).waitFor({ state: 'detached' })
      expect(page.url()).toContain('agent=2')
      await page.getByLabel('Agent', { exact: true }).selectOption('')
      await page.getByLabel('Approval', { exact: true }).selectOption('needed')
      await page.getByRole('link', { name: 'Headline' }).waitFor({ state: 'detached' })
      await page.getByLabel('Approval', { exact: true }).selectOption('')
      await page.getByRole('button', { name: 'List' }).click()
      const titles = page.getByRole('rowheader')
      await expect.poll(() => titles.allTextContents()).toEqual(['Apple', 'Headline'])
      await page.getByRole('button', { name: 'Task', exact: true }).click()
      await page.getByRole('button', { name: 'Task', exact: true }).click()
      await expect.poll(() => titles.allTextContents()).toEqual(['Headline', 'Apple'])
      await page.reload()
      await expect.poll(() => titles.allTextContents()).toEqual(['Headline', 'Apple'])
      await inspect('console-board-list')
    })

    it('shows what others change, and draws nothing as long as they change nothing', async () => {
      const { page, person, open } = given()
      const { id, task } = await project(person, 'Headline')
      const statuses: number[] = []
      page.on(
        'response',
        (response) => void (response.url().includes('/api/tasks?') && statuses.push(response.status())),
      )
      await page.clock.install()
      await open(`/projects/${id}`, 'Website')
      await column(given(), 'Scheduled').getByRole('link', { name: 'Headline' }).waitFor()
      await page.evaluate(`
      window.changes = 0
      new MutationObserver(() => window.changes++).observe(document.body, { subtree: true, childList: true, characterData: true })
    `)
      for (let polls = 1; polls <= 3; polls++) {
        await page.clock.fastForward(2_000)
        await expect.poll(() => statuses.filter((status) => status === 304).length).toBeGreaterThanOrEqual(polls)
      }
      expect(await page.evaluate('window.changes')).toBe(0)
      await change(given(), task.id, { status: 'running' })
      await page.clock.fastForward(2_000)
      await column(given(), 'Running').getByRole('link', { name: 'Headline' }).waitFor()
      // Nobody has touched the page for a minute.
      await page.clock.fastForward(60_000)
      await expect.poll(() => statuses.at(-1)).toBe(304)
      await page.waitForTimeout(100)
      const before = statuses.length
      await page.clock.fastForward(3_000)
      await page.waitForTimeout(100)
      expect(statuses.length).toBe(before)
      await page.clock.fastForward(7_000)
      await expect.poll(() => statuses.length).toBe(before + 1)
      const show = (isHidden: boolean) =>
        page.evaluate(`
        Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))
      `)
      await show(true)
      await page.clock.fastForward(60_000)
      await page.waitForTimeout(100)
      expect(statuses.length).toBe(before + 1)
      await show(false)
      await expect.poll(() => statuses.length).toBe(before + 2)
    })

    it('finds the oldest task that waits, and says how many there are only once it has read them all', async () => {
      const { page, person, open } = given()
      const { id, task } = await project(person, 'Headline')
      await change(given(), task.id, { status: 'waiting_approval' })
      for (let i = 1; i <= 200; i++)
        await person.client.post('/api/tasks', { body: { projectId: id, title: `Task ${i}` } })
      const { opened, open: goOn } = gate()
      await page.route(/tasks\?.*after=/, async (route) => {
        await opened
        await route.continue()
      })
      await open(`/projects/${id}`, 'Website')
      await column(given(), 'Scheduled').getByText('200+').waitFor()
      await column(given(), 'Waiting for approval').getByText('0+').waitFor()
      goOn()
      await column(given(), 'Waiting for approval').getByRole('link', { name: 'Headline' }).waitFor()
      await column(given(), 'Scheduled').getByText('200', { exact: true }).waitFor()
      // Only what is seen is drawn.
      const cards = column(given(), 'Scheduled').getByRole('listitem')
      expect(await cards.count()).toBeLessThan(30)
      await column(given(), 'Scheduled').getByRole('link', { name: 'Task 200' }).focus()
      await page.keyboard.press('End')
      await expect.poll(() => focused(page)).toBe('Task 1')
      expect(await cards.count()).toBeLessThan(30)
      await page.unroute(/tasks\?.*after=/)
    })

    it('does not move a task that somebody else has changed, and shows what it is now', async () => {
      const { page, person, open } = given()
      const { id, task } = await project(person, 'Headline')
      await open(`/projects/${id}`, 'Website')
      await page.getByRole('button', { name: 'Move “Headline”' }).click()
      await change(given(), task.id, { status: 'done', output: 'Hello' })
      await page.getByRole('menuitem', { name: 'Failed' }).click()
      await page.getByText('“Headline” was not moved. Somebody else has changed this task').waitFor()
      expect(await read(given(), task.id)).toMatchObject({ status: 'done' })
      await page.getByRole('button', { name: 'Show it as it is now' }).click()
      await column(given(), 'Done').getByRole('link', { name: 'Headline' }).waitFor()
    })

    it('shows an error of the platform with its request', async () => {
      const { page, person, open } = given()
      const { id } = await project(person, 'Headline')
      await open(`/projects/${id}`, 'Website')
      // The task policy of another server.
      await page.route('**/api/tasks/*', (route) =>
        route.request().method() === 'PATCH'
          ? route.fulfill({
              status: 403,
              headers: { 'x-request-id': 'req-of-the-policy' },
              json: { error: 'This task has to wait for approval first' },
            })
          : route.continue(),
      )
      await page.getByRole('button', { name: 'Move “Headline”' }).click()
      await page.getByRole('menuitem', { name: 'Done' }).click()
      await page.getByText('This task has to wait for approval first').waitFor()
      await page.getByText('Request req-of-the-policy').waitFor()
      await column(given(), 'Scheduled').getByRole('link', { name: 'Headline' }).waitFor()
      await page.unroute('**/api/tasks/*')
    })

    it('sees changes of others, without losing what is typed', async () => {
      const { page, person, open } = given()
      const { id, task } = await project(person, 'Headline')
      await page.clock.install()
      await open(`/projects/${id}`, 'Website')
      await column(given(), 'Scheduled').getByText('Headline').waitFor()
      await page.getByRole('button', { name: 'New task' }).click()
      await page.getByLabel('Title', { exact: true }).fill('Tag li')
      await change(given(), task.id, { status: 'running' })
      await page.clock.fastForward(10_000)
      await column(given(), 'Running').getByText('Headline').waitFor()
      expect(await page.getByLabel('Title', { exact: true }).inputValue()).toBe('Tag li')
      await page.keyboard.press('Escape')
    })
  },
  { only: looks.filter(({ size }) => size === 'desktop') },
)

import { expect, it } from 'vitest'
import { thorough } from '../support/scope.js'
import type { Given } from './console.js'
import { consoleSuite, PASSWORD } from './console.js'
import { looks } from './visitor.js'

/** The name of what has the focus. */
const focused = ({ page }: Given): Promise<string> =>
  page.evaluate(`(() => {
    const { activeElement: it } = document
    return (it.ariaLabel ?? it.labels?.[0]?.textContent ?? it.textContent).trim()
  })()`)

/** Presses Tab until something of that name has the focus. */
async function tabTo(given: Given, name: string): Promise<void> {
  const passed: string[] = []
  while ((await focused(given)) !== name) {
    if (passed.push(await focused(given)) > 60) throw new Error(`No ${name} among ${passed.join(', ')}`)
    await given.page.keyboard.press('Tab')
  }
}

consoleSuite(
  'the console by keyboard alone',
  (given) => {
    it('leads from the sign-in to the approval of a task', async () => {
      const { page, context, person } = given()
      const { keyboard } = page
      const press = async (name: string): Promise<void> => {
        await tabTo(given(), name)
        await keyboard.press('Enter')
      }
      await context.clearCookies()
      await page.reload()
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      await tabTo(given(), 'E-mail')
      await keyboard.type(person.email)
      await tabTo(given(), 'Password')
      await keyboard.type(PASSWORD)
      await keyboard.press('Enter')

      await page.getByText('No projects yet').waitFor()
      expect(await focused(given())).toBe('Projects')
      await press('New project')
      await expect.poll(() => focused(given())).toBe('Name')
      await keyboard.type('Website')
      await press('Create project')

      await page.getByText('No tasks yet').waitFor()
      expect(await focused(given())).toBe('Website')
      await press('New task')
      await expect.poll(() => focused(given())).toBe('Title')
      await keyboard.type('Headline')
      await keyboard.press('Enter')
      await page.getByRole('link', { name: 'Headline' }).waitFor()
      expect(await focused(given())).toBe('New task')

      await press('Headline')
      await page.getByText('has not begun yet').waitFor()
      await press('Write a draft')
      await expect.poll(() => focused(given())).toBe('Draft')
      await keyboard.type('One toll gate for every model')
      await press('Save draft')
      await page.getByText('Saved.').waitFor()

      await press('Move “Headline”')
      await expect.poll(() => focused(given())).toBe('Running')
      await keyboard.press('ArrowUp')
      await keyboard.press('ArrowUp')
      expect(await focused(given())).toBe('Done')
      // Closed and opened before the page is told, as by two keys at once.
      await page.evaluate(
        '((menu) => { menu.hidePopover(); menu.showPopover() })(document.querySelector(".menu:popover-open"))',
      )
      await expect.poll(() => focused(given())).toBe('Running')
      await keyboard.press('Escape')
      await page.getByRole('menu').waitFor({ state: 'hidden' })
      expect(await focused(given())).toBe('Move “Headline”')
      await keyboard.press('Enter')
      await expect.poll(() => focused(given())).toBe('Running')
      await keyboard.press('ArrowDown')
      await keyboard.press('Enter')
      await page.getByText('“Headline” is moved to Waiting for approval.').waitFor()
      await press('Approve')
      await page.getByText('“Headline” is approved.').waitFor()
      await keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
      await expect.poll(() => focused(given())).toBe('Headline')

      const { client } = person
      const { items } = await client.list('/api/projects')
      expect(await client.get('/api/tasks', { query: { projectId: items[0]!.id } })).toMatchObject([
        { title: 'Headline', status: 'done', output: 'One toll gate for every model' },
      ])
      expect(given().faults).toEqual([])
    })
  },
  { only: looks.slice(0, 1), skip: !thorough },
)

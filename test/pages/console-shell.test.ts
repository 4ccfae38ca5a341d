import { expect, it } from 'vitest'
import { consoleSuite, signIn, signOut } from './console.js'

consoleSuite('the frame of the console', (given) => {
  it('tells what to do first, until it is done or put away', async () => {
    const { page, newPerson, server, inspect } = given()
    const other = await newPerson()
    const change = async (email: string): Promise<void> => {
      await signOut(given())
      await signIn(given(), email)
      await page.getByRole('button', { name: /^Search/ }).waitFor()
    }
    await change(other.email)
    await page.goto(`${server.url}/console`)
    await page.getByRole('heading', { level: 1, name: 'Get started' }).waitFor()
    await page.getByText('0 of 3 done').waitFor()
    await inspect('console-start')
    await page.getByRole('link', { name: 'Create a project' }).click()
    await page.getByRole('dialog', { name: 'New project' }).getByLabel('Name').fill('Website')
    await page.getByRole('button', { name: 'Create project' }).click()
    await page.getByRole('heading', { level: 1, name: 'Website' }).waitFor()
    await page.goto(`${server.url}/console`)
    await page.getByText('1 of 3 done').waitFor()
    await page.getByRole('button', { name: 'Put away' }).click()
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor()
    expect(await page.getByRole('link', { name: 'Get started' }).count()).toBe(0)
    await page.goto(`${server.url}/console`)
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor()
    await change(given().person.email)
  })

  it('threat 220: does nothing by keys that were meant for the page that opened it', async () => {
    const { context, server } = given()
    const other = await context.browser()!.newContext({ storageState: await context.storageState() })
    const opener = `<a href="${server.url}/console#/files">Play</a>`
    await other.route('http://game.example/', (route) => route.fulfill({ contentType: 'text/html', body: opener }))
    const page = await other.newPage()
    await page.goto('http://game.example/')
    await page.getByRole('link').click()
    const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await page.getByRole('heading', { level: 1, name: 'Files' }).waitFor()
    for (let i = 0; i < 10; i++) {
      await page.keyboard.press('?')
      expect(await shortcuts.count()).toBe(0)
    }
    // After a pause, keys act.
    await page.waitForTimeout(1_000)
    await page.keyboard.press('?')
    await shortcuts.waitFor()
    await other.close()
  })

  it('finds things and does things by keys, and names what is open', async () => {
    const { page, person, open, inspect } = given()
    const { keyboard } = page
    const { id } = await person.client.post('/api/projects', { body: { name: 'Website' } })
    const newTask = (title: string) => person.client.post('/api/tasks', { body: { projectId: id, title } })
    await newTask('Headline')
    // More than are read at first, and more that fit than are shown.
    await Promise.all(Array.from({ length: 110 }, (_, i) => newTask(`Headline ${i}`)))
    await open('/projects', 'Projects')
    await page.reload()
    await page.getByRole('link', { name: 'Website' }).waitFor()
    await keyboard.press('g')
    await keyboard.press('f')
    await page.getByRole('heading', { level: 1, name: 'Files' }).waitFor()
    await keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Go to Projects').waitFor()
    await inspect('console-shortcuts')
    await page.getByLabel('Shortcuts without Ctrl or ⌘').uncheck()
    await keyboard.press('Escape')
    await keyboard.press('?')
    await keyboard.press('Control+k')
    const search = page.getByRole('combobox', { name: 'Search' })
    await search.waitFor()
    expect(await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).count()).toBe(0)
    await keyboard.press('Escape')
    await page.evaluate('localStorage.removeItem("shortcuts")')

    await keyboard.press('Control+k')
    await keyboard.type('headline')
    await page.getByRole('option', { name: 'Headline Website', exact: true, selected: true }).waitFor()
    await inspect('console-search')
    await keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Headline' }).waitFor()
    await expect.poll(() => page.title()).toBe('Headline · Website · Turnpike')
    await page.reload()
    await page.getByRole('dialog', { name: 'Headline' }).waitFor()
    await keyboard.press('Escape')
    await open(`/projects/${id}/conversation`, 'Website')
    await expect.poll(() => page.title()).toBe('Conversation · Website · Turnpike')
    await page.getByRole('textbox', { name: 'Message' }).fill('')
    await keyboard.type('g p')
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('g p')
    await page.getByRole('textbox', { name: 'Message' }).fill('')

    await keyboard.press('Control+k')
    await page.getByRole('group', { name: 'Recent' }).getByRole('option', { name: 'Headline' }).waitFor()
    await keyboard.type('nothing like this')
    await page.getByText('Nothing is called that.').waitFor()
    // A list that does not end.
    const file = { id: 'x', display_name: 'A file', mime_type: 'text/plain' }
    await page.route('**/api/user-files?*', (route) =>
      route.fulfill({
        json: Array.from({ length: 500 }, () => file),
        headers: { link: '</api/user-files?after=x>; rel="next"' },
      }),
    )
    await keyboard.press('Escape')
    await keyboard.press('Control+k')
    await keyboard.type('some file')
    await page.getByText('Nothing is called that. Only the newest 2,000 files were searched.').waitFor()
    await page.unroute('**/api/user-files?*')
    await search.fill('new key')
    await page.getByRole('option', { name: 'New key', selected: true }).waitFor()
    await keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'New key' }).waitFor()
    await keyboard.press('Escape')
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor()
    await expect.poll(() => page.url()).not.toContain('new')
    await page.goto(`${given().server.url}/console#/projects/${id}/team`)
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Website' }).click()
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Projects' }).click()
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor()
  })
})

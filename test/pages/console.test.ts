import { expect, it } from 'vitest'
import { consoleSuite, signIn } from './console.js'

consoleSuite('the console', (given) => {
  it('signs out, says why somebody cannot sign in, and signs in', async () => {
    const { page, person, inspect } = given()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await signIn(given(), person.email, 'wrong')
    await page.getByRole('alert').getByText('Request').waitFor()
    await inspect('console-sign-in')
    await signIn(given(), person.email)
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1')
  })

  it('keeps no secret where scripts can read it', async () => {
    const { page } = given()
    const kept = await page.evaluate(
      '[document.cookie, location.href, ...Object.values({ ...localStorage, ...sessionStorage })].join()',
    )
    expect(kept).not.toMatch(/eyJ|token|session/)
    expect(await page.evaluate('document.cookie')).toBe('')
  })

  it('shows the pages of the role', async () => {
    const { page, person, admin, open } = given()
    const pages = (): Promise<string[]> =>
      page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()
    expect(await pages()).toEqual(['Projects', 'Files', 'Usage', 'Keys', 'Account'])
    await open('/users', 'Not found')
    await admin.client.patch('/api/users/{id}', { params: { id: person.id }, body: { role: 'user' } })
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor()
    expect(await pages()).toEqual(['Projects', 'Files', 'Usage', 'Account'])
    await admin.client.patch('/api/users/{id}', { params: { id: person.id }, body: { role: 'admin' } })
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()
    expect(await pages()).toEqual(['Projects', 'Files', 'Usage', 'Keys', 'Users', 'Account'])
  })

  it('notices that another tab has signed in somebody else, and shows them nothing of whoever was before', async () => {
    const { page, context, person, open, newPerson, server } = given()
    const bob = await newPerson()
    const { id } = await person.client.post('/api/projects', { body: { name: 'Ada’s project' } })
    await open(`/projects/${id}/conversation`, 'Ada’s project')
    const message = page.getByRole('textbox', { name: 'Message' })
    await message.fill('For Ada only')
    const other = await context.newPage()
    await other.goto(`${server.url}/console#/account`)
    await other.getByRole('button', { name: 'Sign out', exact: true }).click()
    await signIn({ ...given(), page: other }, bob.email)
    await other.getByRole('definition').getByText(bob.email).waitFor()
    expect(await message.inputValue()).toBe('For Ada only')
    await page.evaluate(`dispatchEvent(new Event('focus'))`)
    await message.waitFor({ state: 'detached' })
    await page.getByRole('heading', { level: 1, name: 'Project', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Account' }).click()
    await page.getByRole('definition').getByText(bob.email).waitFor()

    await other.getByRole('button', { name: 'Sign out', exact: true }).click()
    await other.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await other.close()
    await signIn(given(), person.email)
    await open(`/projects/${id}/conversation`, 'Ada’s project')
    expect(await message.inputValue()).toBe('')
  })

  it('keeps the focus on a button while its action is running', async () => {
    const { page, person } = given()
    /** What has the focus, and gets keys. */
    const focused = () =>
      page.evaluate('document.activeElement.disabled ? undefined : document.activeElement.textContent')
    /** Answers requests to a path once `goOn` is called. */
    const hold = async (path: string) => {
      let goOn!: () => void
      const gate = new Promise<void>((resolve) => (goOn = resolve))
      await page.route(path, async (route) => {
        await gate
        await route.continue()
      })
      return goOn
    }
    const signOut = await hold('**/api/auth?*')
    await page.getByRole('button', { name: 'Sign out' }).press('Enter')
    await expect.poll(focused).toBe('Signing out…')
    signOut()
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    const answer = await hold('**/api/auth')
    await page.getByLabel('E-mail').fill(person.email)
    await page.getByLabel('Password').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).press('Enter')
    await expect.poll(focused).toBe('Sign in…')
    answer()
    await page.getByRole('alert').waitFor()
    expect(await focused()).toBe('Sign in')
    await page.unrouteAll()
    await signIn(given(), person.email)
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  })

  it('asks to sign in again where the session is over, and then goes on where it was', async () => {
    const { page, person, open } = given()
    await open('/projects', 'Projects')
    await person.client.signOut({ scope: 'global' })
    await page.goto(`${given().server.url}/console#/files`)
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await signIn(given(), person.email)
    await page.getByRole('heading', { level: 1, name: 'Files' }).waitFor()
  })
})

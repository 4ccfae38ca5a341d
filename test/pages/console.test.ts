import { expect, it } from 'vitest'
import { needs, testAll } from '../support/needs.js'
import { consoleSuite, gate, openNavigation, pagesOf, signIn, signOut } from './console.js'

consoleSuite('the console', (given) => {
  it('signs out, says why somebody cannot sign in, and signs in', async () => {
    const { page, person, inspect } = given()
    await signOut(given())
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await signIn(given(), person.email, 'wrong')
    await page.getByRole('alert').getByText('Request').waitFor()
    // Another password takes the place of the wrong one.
    expect(await page.evaluate('document.querySelector("[type=password]").selectionEnd')).toBe(5)
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

  it('shows the pages of the role, and says who has the others', async () => {
    const { page, person, admin, open, server, inspect } = given()
    const pages = () => pagesOf(given())
    const own = ['Get started', 'Projects', 'Playground', 'Files', 'My usage', 'My keys']
    expect(await pages()).toEqual(own)
    await open('/admin/users', 'Users')
    await page.getByText(`You are signed in as ${person.email}, who is no administrator.`).waitFor()
    await admin.client.patch('/api/users/{id}', { params: { id: person.id }, body: { role: 'user' } })
    await page.reload()
    await page.getByText('This page is for administrators').waitFor()
    expect(await pages()).toEqual(own.slice(0, -1))
    await open('/keys', 'My keys')
    await page.getByText('This page is for developers and administrators').waitFor()
    await page.getByText('says how you become one').waitFor()
    await open('/nothing', 'Not found')

    await page.goto(`${server.url}/admin`)
    await page.getByText(`You are signed in as ${person.email}, who is no administrator.`).waitFor()
    await inspect('dashboard-no-administrator')
    await page.getByRole('link', { name: 'Back to your work' }).click()
    await page.getByRole('heading', { level: 1, name: 'Get started' }).waitFor()

    await open('/admin/users', 'Users')
    await admin.client.patch('/api/users/{id}', { params: { id: person.id }, body: { role: 'admin' } })
    await page.reload()
    await page.getByRole('button', { name: 'New user' }).waitFor()
    const administration = [
      'Overview',
      'Requests',
      'Usage',
      'Providers',
      'Routing',
      'Groups',
      'Pricing',
      'Keys',
      'Audit log',
      'Server',
      'Users',
    ]
    expect(await pages()).toEqual([...own, ...administration])
    for (const name of administration) {
      await openNavigation(given())
      await page.getByRole('list', { name: 'Administration' }).getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
      await expect.poll(() => page.title()).toBe(`${name} · Administration · Turnpike`)
      // Also where the link was in a dialog.
      expect(await page.evaluate('document.activeElement.tagName')).toBe('H1')
    }
    await openNavigation(given())
    await page.getByRole('button', { name: /^You: / }).click()
    await page.getByRole('menuitem', { name: 'API' }).click()
    await page.waitForURL((url) => url.pathname === '/docs')
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()
  })

  it('says that the server cannot be reached, and when it read what it shows', async () => {
    const { page, person, open } = given()
    const { id } = await person.client.post('/api/projects', { body: { name: 'Website' } })
    await person.client.post('/api/tasks', { body: { projectId: id, title: 'Headline' } })
    await page.clock.install()
    await open(`/projects/${id}`, 'Website')
    await page.getByRole('link', { name: 'Headline' }).waitFor()
    await page.route('**/api/tasks?*', (route) => route.abort())
    // The client tries three times.
    const lost = page.getByRole('alert').getByText('The server cannot be reached.')
    for (let i = 0; i < 3; i++) {
      await page.clock.fastForward(10_000)
      await page.waitForTimeout(100)
    }
    await lost.waitFor()
    await page.getByText(/What is shown was read at \d\d:/).waitFor()
    await page.getByRole('link', { name: 'Headline' }).waitFor()
    await page.unroute('**/api/tasks?*')
  })

  it('leads from a project of somebody else, which has no tabs, to all', async () => {
    const { page, newPerson, open } = given()
    const other = await newPerson()
    const { id } = await other.client.post('/api/projects', { body: { name: 'Theirs' } })
    await open(`/projects/${id}`, 'Project')
    await page.getByText('There is no such project').waitFor()
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    expect(await page.getByRole('navigation', { name: 'Project' }).count()).toBe(0)
    await page.getByRole('link', { name: 'All projects' }).click()
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor()
  })

  it('says that nothing was used yet, and what credits are for', async () => {
    const { page, open } = given()
    await open('/usage', 'Usage')
    await page.getByText('Nothing was used in this period').waitFor()
    await page.getByText('Your requests use credits up, and go on when none are left.').waitFor()
    await page.getByText('= 0 tokens').waitFor()
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
    await signOut({ page: other })
    await signIn({ ...given(), page: other }, bob.email)
    await other.getByRole('definition').getByText(bob.email).waitFor()
    expect(await message.inputValue()).toBe('For Ada only')
    await page.evaluate(`dispatchEvent(new Event('focus'))`)
    await message.waitFor({ state: 'detached' })
    await page.getByRole('heading', { level: 1, name: 'Project', exact: true }).waitFor()
    await page.goto(`${server.url}/console#/account`)
    await page.getByRole('definition').getByText(bob.email).waitFor()

    await signOut({ page: other })
    await other.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await other.close()
    await signIn(given(), person.email)
    await open(`/projects/${id}/conversation`, 'Ada’s project')
    expect(await message.inputValue()).toBe('')
  })

  it('keeps the focus on a button while its action is running', needs(testAll), async () => {
    const { page, person } = given()
    /** What has the focus, and gets keys. */
    const focused = () =>
      page.evaluate('document.activeElement.disabled ? undefined : document.activeElement.textContent')
    /** Answers requests to a path once the function that is returned is called. */
    const hold = async (path: string) => {
      const { opened, open } = gate()
      await page.route(path, async (route) => {
        await opened
        await route.continue()
      })
      return open
    }
    const answerSignOut = await hold('**/api/auth/sign-out')
    await signOut(given())
    await expect.poll(focused).toBe('Signing out…')
    answerSignOut()
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    const answer = await hold('**/api/auth')
    await page.getByLabel('E-mail').fill(person.email)
    await page.getByLabel('Password').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).press('Enter')
    await expect.poll(focused).toBe('Sign in…')
    answer()
    await page.getByRole('alert').waitFor()
    // What is wrong is to be typed again.
    await expect.poll(() => page.evaluate('document.activeElement.type')).toBe('password')
    await page.unrouteAll()
    await signIn(given(), person.email)
    await page.getByRole('heading', { level: 1 }).waitFor()
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

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

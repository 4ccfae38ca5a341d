import type { Client } from '@turnpike/client'
import { createClient } from '@turnpike/client'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { startBrowser } from '../support/browser.js'
import { needs, programs } from '../support/needs.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'
import type { Look, Visitor } from './visitor.js'
import { looks, visit } from './visitor.js'

/** Everybody's password. */
export const PASSWORD = 'the password of the tests'
const ADMIN = 'ada@example.org'

/** Somebody of the platform. */
export interface Person {
  id: string
  email: string
  /** A client with a session of theirs, to make what a page is to show, or to see what a page did. */
  client: Client
}

/** The console in one look, with somebody who has signed in at it. */
export interface Given extends Visitor {
  server: Server
  look: Look
  /** Who has signed in. */
  person: Person
  admin: Person
  /** Makes somebody else. */
  newPerson(role?: Role): Promise<Person>
  /** Waits for what an action said, which has the focus. */
  said(words: string): Promise<void>
  /** Goes to a page of the console, such as `/files`, and waits for its heading. */
  open(path: string, heading: string): Promise<void>
}

/** Something to wait for until it is opened. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open!: () => void
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

type Role = 'user' | 'developer' | 'admin'

/** Opens the navigation where it is behind a button, as on a phone. */
export async function openNavigation({ page }: Pick<Visitor, 'page'>): Promise<void> {
  await page.locator('.shell').waitFor()
  const menu = page.getByRole('button', { name: 'Menu', exact: true })
  if (await menu.isVisible()) await menu.click()
}

/** The names of the pages in the navigation. */
export async function pagesOf({ page }: Pick<Visitor, 'page'>): Promise<string[]> {
  await openNavigation({ page })
  const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link')
  await links.first().waitFor()
  const names = await links.allTextContents()
  if (await page.getByRole('dialog').isVisible()) await page.keyboard.press('Escape')
  return names
}

/** Signs out by the menu of the person. */
export async function signOut({ page }: Pick<Visitor, 'page'>): Promise<void> {
  await openNavigation({ page })
  await page.getByRole('button', { name: /^You: / }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
}

let people = 0

async function clientOf(server: Server, email: string): Promise<Client> {
  const client = createClient({ baseUrl: server.url })
  await client.signIn({ email, password: PASSWORD })
  return client
}

/** Signs in at the form that the page shows. */
export async function signIn({ page }: Visitor, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByLabel('Password').press('Enter')
}

/**
 * Tests of the console of a reference server in every look. Each look has a new person, who has signed in; tests of a look follow each other.
 * @param options.role the person's; default `developer`
 * @param options.env variables of the server
 * @param options.only the looks; default all
 * @param options.skip whether the tests are left out; default no
 */
export function consoleSuite(
  name: string,
  define: (given: () => Given) => void,
  {
    role = 'developer',
    env = {},
    only = looks,
    skip = false,
  }: { role?: Role; env?: Record<string, string>; only?: readonly Look[]; skip?: boolean } = {},
): void {
  describe.skipIf(skip)(name, needs(programs.chromium), () => {
    let server: Server
    let browser: Browser
    let admin: Person
    const newPerson = async (role: Role): Promise<Person> => {
      const email = `person-${++people}@example.org`
      const { id } = await admin.client.post('/api/users', { body: { email, password: PASSWORD, role } })
      return { id, email, client: await clientOf(server, email) }
    }
    beforeAll(async () => {
      server = await startServer({ ADMIN_EMAIL: ADMIN, ADMIN_PASSWORD: PASSWORD, ...env })
      const client = await clientOf(server, ADMIN)
      admin = { id: (await client.get('/api/account')).id, email: ADMIN, client }
      browser = await startBrowser()
    })
    afterAll(async () => {
      await browser.close()
      await server.stop()
    })

    describe.each(only)('in $theme on a $size', (look) => {
      let given: Given
      beforeAll(async () => {
        const visitor = await visit(browser, server.url, look)
        const person = await newPerson(role)
        const { page } = visitor
        await page.goto(`${server.url}/console#/projects`)
        await signIn(visitor, person.email)
        await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor()
        given = {
          ...visitor,
          server,
          look,
          person,
          admin,
          newPerson: (role = 'user') => newPerson(role),
          said: (words) => page.locator('.notice:focus').getByText(words).waitFor(),
          async open(path, heading) {
            await page.goto(`${server.url}/console#${path}`)
            await page.getByRole('heading', { level: 1, name: heading }).waitFor()
          },
        }
      })
      afterEach(async ({ task }) => {
        if (task.result?.state === 'fail') console.log(await given.page.locator('body').ariaSnapshot())
      })
      afterAll(() => given.context.close())
      define(() => given)
    })
  })
}

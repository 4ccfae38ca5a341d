import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBrowser } from '../support/browser.js'
import { needs, programs } from '../support/needs.js'
import type { DashboardServer } from './dashboard.js'
import { EMAIL, goTo, PASSWORD, startDashboard } from './dashboard.js'
import { looks, visit } from './visitor.js'

interface Group {
  name: string
  models: string[]
}

describe('groups, prices, the audit log and the server at the dashboard', needs(programs.chromium), () => {
  let server: DashboardServer
  let browser: Browser
  beforeAll(async () => {
    server = await startDashboard()
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await server.stop()
  })

  const modelsOf = async (name: string): Promise<string[] | undefined> => {
    const { groups } = await server.send<{ groups: Group[] }>('GET', '/admin/groups')
    return groups.find((group) => group.name === name)?.models
  }
  const ownPrices = async () => (await server.send<{ prices: object[] }>('GET', '/admin/prices')).prices

  it.each(looks)('are changed, seen and as they were, in $theme on a $size', async (look) => {
    const { page, context, inspect } = await visit(browser, server.url, look)
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const said = (words: string) => page.locator('.notice:focus').getByText(words).waitFor()
    await page.goto(`${server.url}/admin#/admin/groups`)
    await page.getByLabel('E-mail').fill(EMAIL)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByLabel('Password').press('Enter')

    await button('New group').click()
    const making = page.getByRole('dialog', { name: 'New group' })
    await making.getByLabel('Name').fill('fast')
    await making.getByLabel('Model 1', { exact: true }).fill('openai/gpt-4o-mini')
    await making.getByLabel('Model 2', { exact: true }).fill('openai/gpt-4.1-nano')
    await button('Create group').click()
    await making.getByText('Is taken by another group').waitFor()
    await page.locator('[name=name]:focus').fill('quick')
    await inspect('admin-group-new')
    await button('Create group').click()
    await said('quick is a group now')
    expect(await modelsOf('quick')).toEqual(['openai/gpt-4o-mini', 'openai/gpt-4.1-nano'])
    await inspect('admin-groups')
    await button('quick').click()
    await button('Move model 2 up').press('Enter')
    await button('Save').press('Enter')
    await said('The group quick is changed.')
    expect(await modelsOf('quick')).toEqual(['openai/gpt-4.1-nano', 'openai/gpt-4o-mini'])
    const listed = page.getByRole('list', { name: 'Models of quick' }).getByRole('listitem')
    await expect.poll(() => listed.allTextContents()).toEqual(await modelsOf('quick'))
    await button('fast').click()
    await page.getByRole('dialog', { name: 'fast' }).getByText('is changed there').waitFor()
    await page.keyboard.press('Escape')
    await button('quick').click()
    await button('Delete').press('Enter')
    await page.getByRole('dialog', { name: 'Delete quick?' }).getByRole('button', { name: 'Delete' }).press('Enter')
    await said('The group quick is deleted.')
    expect(await modelsOf('quick')).toBeUndefined()

    await goTo(page, 'Pricing')
    const row = page.getByRole('row').filter({ has: button('gpt-4.1-nano') })
    await row.waitFor()
    const price = await row.getByRole('cell').allTextContents()
    await row.getByRole('button').click()
    const drawer = page.getByRole('dialog', { name: 'openai/gpt-4.1-nano' })
    await drawer.getByLabel('Input', { exact: true }).fill('7.5')
    await inspect('admin-price')
    await button('Set price').press('Enter')
    await said('has your own price from the next request on.')
    await row.getByText('own price').waitFor()
    expect((await row.getByRole('cell').allTextContents())[1]).toBe('$7.50')
    expect(await ownPrices()).toMatchObject([{ model: 'openai/gpt-4.1-nano', price: { input: 7.5 } }])
    await row.getByRole('button').click()
    await button('Remove').press('Enter')
    const question = page.getByRole('dialog', { name: 'Remove your own price?' })
    await question.getByRole('button', { name: 'Remove' }).press('Enter')
    await said('has the price of the table again.')
    await expect.poll(() => row.getByRole('cell').allTextContents()).toEqual(price)
    expect(await ownPrices()).toEqual([])

    await goTo(page, 'Audit log')
    await page.getByLabel('What', { exact: true }).selectOption('groups')
    const actions = page.getByRole('rowheader')
    await expect
      .poll(async () => (await actions.allTextContents()).slice(0, 3))
      .toEqual(['Group deleted', 'Group changed', 'Group changed'])
    await inspect('admin-audit')
    await actions.first().getByRole('button').click()
    await page.getByRole('dialog', { name: 'Group deleted' }).getByText('group.delete').waitFor()
    await page.keyboard.press('Escape')
    await page.getByLabel('What', { exact: true }).selectOption('everything')
    await page.getByLabel('Filter').fill('gpt-4.1-nano')
    await expect
      .poll(async () => (await actions.allTextContents()).slice(0, 2))
      .toEqual(['Price deleted', 'Price changed'])
    await page.getByLabel('Filter').fill('')
    await page.getByRole('rowheader', { name: 'Signed in' }).first().waitFor()

    await goTo(page, 'Server')
    await page.getByText('healthy').waitFor()
    await page.getByText('Users, keys and usage are in memory only.').waitFor()
    await page.getByLabel('Configuration').getByText('openai/gpt-4.1-nano').waitFor()
    expect(await page.content()).not.toContain(PASSWORD)
    await inspect('admin-server')
    await context.close()
  })
})

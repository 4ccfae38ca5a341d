import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { consoleSuite } from './console.js'

const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello!' }] }

consoleSuite('keys and usage at the console', (given) => {
  let key = ''
  /** Asks a model with the key, in a session or none. */
  const ask = (sessionId?: string): Promise<Response> =>
    fetch(`${given().server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(sessionId !== undefined && { 'x-session-id': sessionId }),
      },
      body: JSON.stringify(chat),
    })

  it('makes a key, whose value is shown once', async () => {
    const { page, open, inspect, person } = given()
    await open('/keys', 'Keys')
    await page.getByText('No key yet').waitFor()
    await inspect('console-keys-empty')
    await page.getByRole('button', { name: 'New key' }).press('Enter')
    await page.locator('[name=name]:focus').waitFor()
    await page.keyboard.type('my <b>laptop</b>')
    await page.getByLabel('Requests per minute').fill('120')
    await page.getByText('At most 600.').waitFor()
    await inspect('console-new-key')
    await page.keyboard.press('Enter')
    const shown = page.locator('.notice:focus')
    await shown.getByText('shown this once').waitFor()
    key = (await shown.getByLabel('The key').textContent())!
    await shown.getByRole('button', { name: 'Copy' }).first().click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(key)
    expect(await person.client.get('/api/keys')).toMatchObject([{ name: 'my <b>laptop</b>', rate_limit: 120 }])
    await inspect('console-key-made')
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await shown.waitFor({ state: 'detached' })
    expect(await page.content()).not.toContain(key)
    const kept = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state, location.href])'
    expect(await page.evaluate(kept)).not.toContain(key)
  })

  it('makes a key with a budget, models and an end', async () => {
    const { page, inspect, person } = given()
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('intern')
    await page.getByText('Budget, models, end and more').click()
    await page.getByLabel('Budget in US dollars').fill('-1')
    await page.getByText('Budget, models, end and more').click()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.locator('[name="budget.usd"]:focus').fill('12.5')
    await page.getByLabel('The budget is for').selectOption('month')
    await page.getByLabel('Models').fill('claude-sonnet-4-5, gpt-4o-mini')
    await page.getByLabel('End', { exact: true }).fill('2030-01-31T08:00')
    await inspect('console-new-key-limits')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('A first request').click()
    await page.locator('pre', { hasText: '"model":"claude-sonnet-4-5"' }).waitFor()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    const [made] = await person.client.get('/api/keys')
    expect(made).toMatchObject({
      name: 'intern',
      rate_limit: 60,
      budget: { usd: 12.5, per: 'month' },
      models: ['claude-sonnet-4-5', 'gpt-4o-mini'],
      expires_at: new Date('2030-01-31T08:00').toISOString(),
    })
    const row = page.getByRole('row', { name: 'intern' })
    for (const limit of ['$12.50 a month', 'claude-sonnet-4-5, gpt-4o-mini', 'until 31 Jan 2030'])
      await row.getByText(limit).waitFor()
    await inspect('console-key-limits')
  })

  it('says why a key cannot be made', async () => {
    const { page } = given()
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('x')
    await page.evaluate(`document.querySelector('[name=name]').value = '   '`)
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByText('Must not be blank').waitFor()
    await page.locator('[name=name]:focus').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('New key')
  })

  it('makes a session and shows what it, the keys and the credits come to', async () => {
    const { page, open, inspect, person, admin } = given()
    await open('/usage?by=session', 'Usage')
    await page.getByText('No session yet').waitFor()
    await inspect('console-usage-empty')
    await page.getByRole('button', { name: 'New session' }).click()
    await page.getByLabel('Label').fill('Nightly summary')
    await page.getByLabel('End').fill('2030-01-31T08:00')
    await page.getByRole('button', { name: 'Create session' }).click()
    await page.getByRole('rowheader', { name: 'Nightly summary' }).waitFor()
    const [session] = await person.client.get('/api/sessions')
    expect(session!.expires_at).toBe(new Date('2030-01-31T08:00').toISOString())
    await page.getByRole('row', { name: 'Nightly summary' }).getByRole('button', { name: 'Copy' }).click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(session!.id)

    const params = { id: person.id }
    await admin.client.patch('/api/users/{id}/balance', { params, body: { creditCoins: 1_250 } })
    expect([(await ask(session!.id)).status, (await ask()).status]).toEqual([200, 200])
    await page.reload()
    await page.getByText('1,250', { exact: true }).waitFor()
    await page.getByText('= 1,250,000 tokens').waitFor()
    const cells = async (table: string, row: string): Promise<string[]> => {
      const found = page.getByRole('table', { name: table }).getByRole('row', { name: row })
      await found.waitFor()
      return found.getByRole('cell').allTextContents()
    }
    const { prompt_tokens: sent, completion_tokens: answered } = (await person.client.get('/api/sessions'))[0]!
    expect((await cells('Sessions', 'Nightly summary')).slice(0, 3)).toEqual(['1', String(sent), String(answered)])
    expect((await cells('Usage by session', 'Nightly summary')).slice(1, 3)).toEqual(['new', '1'])
    expect((await cells('Usage by session', 'Without a session'))[2]).toBe('1')
  })

  it('shows what a period came to, by day and hour, with parts that can be hidden, and saves it as files', async () => {
    const { page, open, inspect, person } = given()
    await open('/usage?by=key', 'Usage')
    const { total, rows } = await person.client.get('/api/usage', { query: { by: 'key' } })
    const figures = page.getByRole('main').locator('.figures').first()
    await figures.getByText('nothing in the 7 days before').first().waitFor()
    expect(await figures.locator('.value').nth(1).textContent()).toBe('2')
    const row = page.getByRole('table', { name: 'Usage by key' }).getByRole('row', { name: 'laptop' })
    const cells = ['new', '2', total.prompt_tokens, total.completion_tokens].map(String)
    expect((await row.getByRole('cell').allTextContents()).slice(1)).toEqual(cells)

    await page.getByRole('button', { name: 'Requests', exact: true }).first().click()
    await page.getByRole('img', { name: 'Requests by day, by key' }).waitFor()
    const part = page.getByRole('table', { name: 'Parts' }).getByRole('button', { name: 'laptop' })
    await part.press('Enter')
    expect(await part.getAttribute('aria-pressed')).toBe('false')
    await part.press('Enter')
    await page.getByText('As a table').click()
    const twin = page.getByRole('table', { name: 'Requests by day, by key' })
    await expect.poll(() => twin.getByRole('cell').allTextContents()).toEqual(['2'])
    const plot = (await page.locator('.u-over').boundingBox())!
    // The last bar is today.
    await page.mouse.move(plot.x + plot.width - 10, plot.y + 20)
    await page.locator('.chart-tip').getByText('laptop').waitFor()
    await inspect('console-usage')

    const asked = page.waitForRequest((request) => request.url().includes('/api/usage?'))
    await page.getByRole('button', { name: '24 hours' }).click()
    const from = Date.parse(new URL((await asked).url()).searchParams.get('from')!)
    expect(Math.floor((Date.now() - from) / 3_600_000)).toBe(23)
    await page.getByRole('img', { name: 'Requests by hour, by key' }).waitFor()
    expect(page.url()).toContain('hours=24')
    const saved = async (name: string): Promise<string> => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name, exact: true }).click(),
      ])
      expect(download.suggestedFilename()).toMatch(
        new RegExp(`^usage-by-key-\\d{4}-\\d\\d-\\d\\d\\.${name.toLowerCase()}$`),
      )
      return readFileSync(await download.path(), 'utf8')
    }
    expect(await saved('CSV')).toContain(`\r\n${rows[0]!.id},my <b>laptop</b>,,2,0,`)
    expect(JSON.parse(await saved('JSON'))).toMatchObject({ by: 'key', rows: [{ id: rows[0]!.id, requests: 2 }] })
  })

  it('revokes a key after a confirmation, and keeps what it used', async () => {
    const { page, open, inspect } = given()
    await open('/keys', 'Keys')
    const row = page.getByRole('row', { name: 'my <b>laptop</b>' })
    await expect.poll(() => row.getByRole('cell').allTextContents()).toContain('2')
    await row.getByRole('button').press('Enter')
    const drawer = page.getByRole('dialog', { name: 'my <b>laptop</b>' })
    await drawer.getByRole('button', { name: 'Revoke' }).press('Enter')
    await inspect('console-revoke-key')
    const confirm = page.getByRole('dialog', { name: 'Revoke the key?' })
    await confirm.getByRole('button', { name: 'Cancel' }).press('Enter')
    expect((await ask()).status).toBe(200)
    await drawer.getByRole('button', { name: 'Revoke' }).press('Enter')
    await confirm.getByRole('button', { name: 'Revoke' }).press('Enter')
    await row.getByText('revoked').waitFor()
    expect((await ask()).status).toBe(401)
    await page.locator('.notice:focus').getByText('is revoked').waitFor()
    await inspect('console-keys')
  })

  it('keeps the value of a new key where another one is made', async () => {
    const { page, open } = given()
    await open('/keys', 'Keys')
    for (const name of ['first', 'second']) {
      await page.getByRole('button', { name: 'New key' }).click()
      await page.getByLabel('Name').fill(name)
      await page.getByRole('button', { name: 'Create key' }).click()
      await page.locator('.notice:focus').getByText(`${name} is created`).waitFor()
    }
    const values = await page.getByLabel('The key').allTextContents()
    expect(new Set(values).size).toBe(2)
    await page.getByRole('button', { name: 'I have copied it' }).first().click()
    expect(await page.getByLabel('The key').allTextContents()).toEqual(values.slice(1))
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByLabel('The key').waitFor({ state: 'detached' })
  })
})

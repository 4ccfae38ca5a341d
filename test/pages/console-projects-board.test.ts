import type { Client } from '@turnpike/client'
import { expect, it } from 'vitest'
import type { Given } from './console.js'
import { consoleSuite } from './console.js'

/** A project with a task in it. */
async function project({ client }: { client: Client }, title: string, body: { requiresUserApproval?: boolean } = {}) {
  const { id } = await client.post('/api/projects', { body: { name: 'Website', teamType: 'content-creation' } })
  const task = await client.post('/api/tasks', { body: { projectId: id, title, assignedAgentId: 2, ...body } })
  return { id, task }
}

const change = ({ person }: Given, id: string, body: Parameters<typeof patch>[2]) => patch(person.client, id, body)
const patch = (
  client: Client,
  id: string,
  body: { status?: 'running' | 'waiting_approval' | 'done'; output?: string; draft_output?: string },
) => client.patch('/api/tasks/{id}', { params: { id }, body })
const read = ({ person }: Given, id: string) => person.client.get('/api/tasks/{id}', { params: { id } })

const column = ({ page }: Given, name: string) => page.getByRole('region', { name, exact: true })

consoleSuite('the task board of the console', (given) => {
  it('has five columns, makes tasks and moves them by a menu', async () => {
    const { page, person, open, inspect } = given()
    const { id, task } = await project(person, 'Headline')
    await open(`/projects/${id}`, 'Website')
    await page.getByRole('button', { name: 'New task' }).click()
    await page.getByLabel('Title').fill('Tag line')
    await page.getByLabel('Description').fill('Three words.')
    await page.getByLabel('Agent').selectOption({ label: 'Writer: Writes drafts' })
    await inspect('console-task-new')
    await page.getByRole('button', { name: 'Make task' }).click()
    await column(given(), 'Scheduled').getByRole('link', { name: 'Tag line' }).waitFor()
    await column(given(), 'Scheduled').getByText('Writer · needs your approval').waitFor()
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual([
      'Scheduled',
      'Running',
      'Waiting for approval',
      'Done',
      'Failed',
    ])
    await page.getByRole('button', { name: 'Move “Headline”' }).click()
    expect(await page.getByRole('menuitem').allTextContents()).toEqual([
      'Running',
      'Waiting for approval',
      'Done',
      'Failed',
    ])
    await inspect('console-board-menu')
    await page.getByRole('menuitem', { name: 'Failed' }).click()
    await column(given(), 'Failed').getByRole('link', { name: 'Headline' }).waitFor()
    await page.getByText('“Headline” is moved to Failed.').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Headline')
    expect(await read(given(), task.id)).toMatchObject({ status: 'failed' })
    await inspect('console-board')
  })

  it('finds the oldest task that waits, and says how many there are only once it has read them all', async () => {
    const { page, person, open } = given()
    const { id, task } = await project(person, 'Headline')
    await change(given(), task.id, { status: 'waiting_approval' })
    for (let i = 1; i <= 200; i++)
      await person.client.post('/api/tasks', { body: { projectId: id, title: `Task ${i}` } })
    let goOn!: () => void
    const gate = new Promise<void>((resolve) => (goOn = resolve))
    await page.route(/tasks\?.*after=/, async (route) => {
      await gate
      await route.continue()
    })
    await open(`/projects/${id}`, 'Website')
    await column(given(), 'Scheduled').getByText('200+').waitFor()
    await column(given(), 'Waiting for approval').getByText('0+').waitFor()
    goOn()
    await column(given(), 'Waiting for approval').getByRole('link', { name: 'Headline' }).waitFor()
    await column(given(), 'Scheduled').getByText('200', { exact: true }).waitFor()
    const cards = column(given(), 'Scheduled').getByRole('listitem')
    expect(await cards.count()).toBe(50)
    await column(given(), 'Scheduled').getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => cards.count()).toBe(100)
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Task 150')
    await page.unroute(/tasks\?.*after=/)
  })

  it('does not move a task that somebody else has changed, and shows what it is now', async () => {
    const { page, person, open } = given()
    const { id, task } = await project(person, 'Headline')
    await open(`/projects/${id}`, 'Website')
    await page.getByRole('button', { name: 'Move “Headline”' }).click()
    await change(given(), task.id, { status: 'done', output: 'Hello' })
    await page.getByRole('menuitem', { name: 'Failed' }).click()
    await page.getByText('Nothing of yours was saved').waitFor()
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
    await page.getByLabel('Title').fill('Tag li')
    await change(given(), task.id, { status: 'running' })
    await page.clock.fastForward(10_000)
    await column(given(), 'Running').getByText('Headline').waitFor()
    expect(await page.getByLabel('Title').inputValue()).toBe('Tag li')
    await page.keyboard.press('Escape')
  })
})

consoleSuite('the approval of tasks in the console', (given) => {
  const waiting = async (draft: string, output?: string) => {
    const made = await project(given().person, 'Headline', { requiresUserApproval: true })
    if (output !== undefined) await change(given(), made.task.id, { output })
    await change(given(), made.task.id, { status: 'waiting_approval', draft_output: draft })
    await given().open(`/projects/${made.id}?task=${made.task.id}`, 'Website')
    return made
  }

  it('shows the draft beside the output, and approves it', async () => {
    const { page, inspect } = given()
    const { task } = await waiting('One toll gate for all\nmodels', 'One gateway for all\nmodels')
    await page.getByText('Lines: 1 removed, 1 added.').waitFor()
    expect(await page.locator('.diff del, .diff ins').allTextContents()).toEqual(['gateway', 'toll gate'])
    await inspect('console-task-approval')
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('It is now “Done”.').waitFor()
    expect(await read(given(), task.id)).toMatchObject({ status: 'done', output: 'One toll gate for all\nmodels' })
    await page.getByLabel('From').waitFor()
    await inspect('console-task-done')
    await page.getByRole('button', { name: 'Close' }).click()
    await column(given(), 'Done').getByRole('link', { name: 'Headline' }).waitFor()
  })

  it('sends a draft for approval, and asks before the approval is skipped', async () => {
    const { page, person, open, inspect } = given()
    const { id, task } = await project(person, 'Headline', { requiresUserApproval: true })
    await open(`/projects/${id}?task=${task.id}`, 'Website')
    await page.getByRole('button', { name: 'Write a draft' }).click()
    expect(await page.getByRole('button', { name: 'Send for approval' }).count()).toBe(0)
    await page.getByRole('textbox', { name: 'Draft' }).fill('Toll gate')
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByRole('button', { name: 'Send for approval' }).waitFor()
    await inspect('console-task-draft')
    await page.getByRole('button', { name: 'Send for approval' }).click()
    await page.getByText('It is now “Waiting for approval”.').waitFor()
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    const moveToDone = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Move “Headline”' }).click()
      await page.getByRole('menuitem', { name: 'Done' }).click()
      await page.getByText('Moving it to Done skips that').waitFor()
    }
    await moveToDone()
    await inspect('console-board-skip')
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(await read(given(), task.id)).toMatchObject({ status: 'waiting_approval', draft_output: 'Toll gate' })
    await moveToDone()
    await page.getByRole('button', { name: 'Skip the approval' }).click()
    await column(given(), 'Done').getByRole('link', { name: 'Headline' }).waitFor()
    expect(await read(given(), task.id)).toMatchObject({ status: 'done', output: null })
  })

  it('sends a task back with a comment', async () => {
    const { page, inspect } = given()
    const { task } = await waiting('Toll gate')
    await page.getByRole('button', { name: 'Request changes' }).click()
    await page.getByLabel('What should be different').fill('Shorter,\nplease')
    await inspect('console-task-comment')
    await page.getByRole('button', { name: 'Send back' }).click()
    await page.getByText('It is now “Scheduled”.').waitFor()
    expect(await read(given(), task.id)).toMatchObject({ status: 'scheduled', review_comments: 'Shorter,\nplease' })
  })

  it('keeps a draft that is typed, and notices that somebody else has changed the task', async () => {
    const { page, inspect } = given()
    await page.clock.install()
    const { id, task } = await waiting('Toll gate')
    await page.getByRole('button', { name: 'Edit draft' }).click()
    const field = page.getByRole('textbox', { name: 'Draft' })
    await field.fill('My draft')
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Headline' }).click()
    expect(await field.inputValue()).toBe('My draft')
    await change(given(), task.id, { draft_output: 'Their draft' })
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByText('Nothing of yours was saved').waitFor()
    await inspect('console-task-changed')
    await page.getByRole('button', { name: 'Show it as it is now' }).first().click()
    await page.getByText('You began to type before that.').waitFor()
    await page.getByText('The draft is now').click()
    await page.getByText('Their draft').waitFor()
    await inspect('console-task-outdated')
    expect(await field.inputValue()).toBe('My draft')
    await page.getByRole('button', { name: 'Go on with my text' }).click()
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByText('Saved.').waitFor()
    expect(await read(given(), task.id)).toMatchObject({ draft_output: 'My draft', status: 'waiting_approval' })
    await change(given(), task.id, { draft_output: 'Theirs again' })
    await page.clock.fastForward(5_000)
    await page.getByText('Somebody changed this task').waitFor()
    await page.getByText('My draft').waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('Nothing of yours was saved').waitFor()
    expect(await read(given(), task.id)).toMatchObject({ status: 'waiting_approval', output: null })
    await given().open(`/projects/${id}`, 'Website')
  })

  it('does not save a text over a draft that came while the task was closed', async () => {
    const { page } = given()
    const { task } = await waiting('Toll gate')
    await page.getByRole('button', { name: 'Edit draft' }).click()
    const field = page.getByRole('textbox', { name: 'Draft' })
    await field.fill('My draft')
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    await change(given(), task.id, { draft_output: 'Their draft' })
    await page.getByRole('link', { name: 'Headline' }).click()
    await page.getByText('You began to type before that.').waitFor()
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByText('Nothing of yours was saved.').waitFor()
    expect(await read(given(), task.id)).toMatchObject({ draft_output: 'Their draft' })
    await page.getByRole('button', { name: 'Go on with my text' }).click()
    await expect.poll(() => page.evaluate('document.activeElement.value')).toBe('My draft')
    // A change of one's own is none to be told of.
    await page.getByRole('dialog').getByRole('button', { name: 'Move “Headline”' }).click()
    await page.getByRole('menuitem', { name: 'Running' }).click()
    await page.getByText('It is now “Running”.').waitFor()
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByText('Saved.').waitFor()
    expect(await read(given(), task.id)).toMatchObject({ draft_output: 'My draft', status: 'running' })
  })

  it('keeps what is typed during a save', async () => {
    const { page } = given()
    const { task } = await waiting('Toll gate')
    await page.getByRole('button', { name: 'Edit draft' }).click()
    const field = page.getByRole('textbox', { name: 'Draft' })
    let goOn!: () => void
    const gate = new Promise<void>((resolve) => (goOn = resolve))
    await page.route('**/api/tasks/*', async (route) => {
      if (route.request().method() === 'PATCH') await gate
      await route.continue()
    })
    await field.fill('First')
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByText('Saving…').waitFor()
    await field.pressSequentially(' and more')
    goOn()
    await page.getByText('Saved.').waitFor()
    expect(await read(given(), task.id)).toMatchObject({ draft_output: 'First' })
    expect(await field.inputValue()).toBe('First and more')
    await expect.poll(() => page.evaluate('document.activeElement.value')).toBe('First and more')
    await page.getByRole('button', { name: 'Save draft' }).click()
    await field.waitFor({ state: 'detached' })
    expect(await read(given(), task.id)).toMatchObject({ draft_output: 'First and more' })
    await page.unroute('**/api/tasks/*')
  })

  it('shows a draft of a megabyte in place of another, and both whole', async () => {
    const { page, person } = given()
    const line = (word: string): string => `${word} `.repeat(80)
    const text = (word: string): string => Array.from({ length: 2_400 }, () => line(word)).join('\n')
    const made = await project(person, 'Headline', { requiresUserApproval: true })
    await change(given(), made.task.id, { output: text('toll') })
    await change(given(), made.task.id, { status: 'waiting_approval', draft_output: text('gate') })
    await given().open(`/projects/${made.id}?task=${made.task.id}`, 'Website')
    await page.getByText('Lines: 2,400 removed, 2,400 added. Here are the first 1,000 of them.').waitFor()
    expect(await page.locator('.diff .added p').count()).toBe(1_001)
    await page.getByRole('button', { name: 'Show whole texts' }).click()
    await expect.poll(() => page.locator('.diff .right').last().textContent()).toHaveLength(text('gate').length)
    await page.keyboard.press('Escape')
  })

  it('compares any two revisions, tells what each cost, and lists the results', async () => {
    const { page, person, open, inspect } = given()
    const { id, task } = await project(person, 'Headline')
    const ask = (content: string) =>
      person.client.post('/api/gateway/v1/chat/completions', {
        headers: { 'X-Task-ID': task.id },
        body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content }] },
      })
    for (const output of ['one', 'two', 'three, and more']) {
      await ask(output)
      await change(given(), task.id, { output })
    }
    await ask('after that')
    await open(`/projects/${id}/results`, 'Website')
    await page.getByText('three, and more').waitFor()
    await inspect('console-results')
    await page.getByRole('link', { name: 'Headline' }).click()
    await page.getByLabel('From').waitFor()
    const options = await page.getByLabel('From').locator('option').allTextContents()
    expect(options).toHaveLength(3)
    await page.getByLabel('From').selectOption({ index: 2 })
    await page.getByRole('group', { name: / and / }).getByText('one', { exact: true }).waitFor()
    const cost = page.getByRole('region', { name: 'What the task cost' })
    expect(await cost.getByRole('row').count()).toBe(6)
    const { requests, total_tokens } = await person.client.get('/api/tasks/{id}/spend', { params: { id: task.id } })
    expect(requests).toBe(4)
    await cost.getByRole('row', { name: `In all 4 ${total_tokens}` }).waitFor()
    await inspect('console-task-revisions')
  })
})

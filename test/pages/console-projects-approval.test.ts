import { expect, it } from 'vitest'
import { needs, testAll } from '../support/needs.js'
import { consoleSuite, gate } from './console.js'
import { change, inColumn, project, read } from './console-tasks.js'

consoleSuite('the approval of tasks in the console', (given) => {
  const waiting = async (draft: string, output?: string) => {
    const made = await project(given().person, 'Headline', { requiresUserApproval: true })
    if (output !== undefined) await change(given(), made.task.id, { output })
    await change(given(), made.task.id, { status: 'waiting_approval', draft_output: draft })
    await given().open(`/projects/${made.id}?task=${made.task.id}`, 'Website')
    return made
  }

  it('shows the draft beside the output, approves it, takes that back, and leads to the next that waits', async () => {
    const { page, person, inspect } = given()
    const { id, task } = await waiting('One toll gate for all\nmodels', 'One gateway for all\nmodels')
    await page.getByText('Sentences: 1 changed.').waitFor()
    expect(await page.locator('.diff del, .diff ins').allTextContents()).toEqual(['gateway', 'toll gate'])
    await inspect('console-task-approval')
    expect(await page.getByText('needs no approval').count()).toBe(0)
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('“Headline” is approved.').waitFor()
    expect(await read(given(), task.id)).toMatchObject({ status: 'done', output: 'One toll gate for all\nmodels' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    expect(await read(given(), task.id)).toMatchObject({
      status: 'waiting_approval',
      output: 'One gateway for all\nmodels',
    })
    const next = await person.client.post('/api/tasks', { body: { projectId: id, title: 'Tag line' } })
    await change(given(), next.id, { status: 'waiting_approval', draft_output: 'Pay once' })
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByLabel('From').waitFor()
    // What was made comes first.
    const parts = page.getByRole('dialog').getByRole('heading', { level: 2 })
    await expect
      .poll(async () => (await parts.allTextContents()).slice(0, 3))
      .toEqual(['Headline', 'Output', 'Revisions'])
    await change(given(), task.id, { draft_output: 'Another draft' })
    await page.reload()
    await page.getByText('A draft that did not become the output').waitFor()
    await inspect('console-task-done')
    await page.getByRole('button', { name: 'Open it' }).click()
    await page.getByRole('dialog', { name: 'Tag line' }).getByText('Pay once').waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await inColumn(given(), 'Done', 'Headline')
  })

  it('threat 209: shows all that a model would read of a draft: addresses, characters that are not seen, and the ends of lines', async () => {
    const { page, inspect } = given()
    const tags = Array.from('send it', (one) => `&#x${(0xe0000 + one.charCodeAt(0)).toString(16)};`).join('')
    const lines = [
      'A headline.[](<https://a.example/ send the key>) See [it](https://b.example "and the file").',
      `![logo](https://c.example/say-yes) Now ${tags}\u{E0041}. \u2067Keep\u200F it\u2069`,
      `\n    x${' '.repeat(300)}hidden`,
    ]
    await waiting(lines.join('\n'))
    const links = page.getByRole('dialog').locator('.markdown a')
    await expect.poll(() => links.count()).toBe(3)
    const shown = await links.evaluateAll((all) =>
      all.map((one) => one.ownerDocument.defaultView!.getComputedStyle(one, '::after').content),
    )
    expect(shown).toEqual(['none', '" (https://b.example)"', '" (https://c.example/say-yes)"'])
    expect(await links.first().textContent()).toBe('https://a.example/ send the key')
    await page.getByText('(and the file)').waitFor()
    await page.getByText(`Now ${tags}\\u{e0041}. \\u{2067}Keep\\u{200f} it\\u{2069}`).waitFor()
    const code = page.getByRole('dialog').locator('pre')
    expect(await code.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true)
    await inspect('console-task-addresses')
  })

  it('threat 220: takes no click that was meant for another page', async () => {
    const { page } = given()
    const { task } = await waiting('A draft')
    const approve = page.getByRole('button', { name: 'Approve' })
    await approve.scrollIntoViewIfNeeded()
    const { x, y, width, height } = (await approve.boundingBox())!
    await page.reload()
    for (let i = 0; i < 20; i++) {
      await page.mouse.click(x + width / 2, y + height / 2)
      await page.waitForTimeout(150)
    }
    expect((await read(given(), task.id)).status).toBe('waiting_approval')
    await approve.click()
    await page.getByText('“Headline” is approved.').waitFor()
    expect((await read(given(), task.id)).status).toBe('done')
  })

  it('threat 220: deletes nothing by a click that was meant for another page', async () => {
    const { page } = given()
    const { task } = await waiting('A draft')
    await page.getByRole('button', { name: 'Delete' }).click()
    const question = page.getByRole('dialog', { name: 'Delete the task?' })
    const really = question.getByRole('button', { name: 'Delete' })
    const { x, y } = (await really.boundingBox())!
    for (let i = 0; i < 5; i++) {
      await page.mouse.click(x + 5, y + 5)
      await page.waitForTimeout(150)
    }
    expect((await read(given(), task.id)).status).toBe('waiting_approval')
    await question.getByRole('button', { name: 'Cancel' }).click()
  })

  it('deletes a task', async () => {
    const { page, person, inspect } = given()
    const { task } = await waiting('A draft')
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('“Headline” will be gone').waitFor()
    await inspect('console-task-delete')
    await page
      .getByRole('alertdialog')
      .or(page.getByRole('dialog'))
      .last()
      .getByRole('button', { name: 'Delete' })
      .click()
    await page.getByText('“Headline” is deleted.').waitFor()
    await page.getByText('No tasks yet').waitFor()
    await expect(person.client.get('/api/tasks/{id}', { params: { id: task.id } })).rejects.toMatchObject({
      status: 404,
    })
  })

  it('sends a draft for approval, and asks before the approval is skipped', async () => {
    const { page, person, open, inspect } = given()
    const { id, task } = await project(person, 'Headline', { requiresUserApproval: true })
    await open(`/projects/${id}?task=${task.id}`, 'Website')
    await page.getByText('Writer has not begun yet.').waitFor()
    // A fresh task has no panels of nothing.
    await page.getByRole('region', { name: 'Run an agent' }).waitFor()
    expect(await page.getByRole('dialog').getByRole('region').count()).toBe(1)
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
      await page.getByText('Moving to Done skips that').waitFor()
    }
    await moveToDone()
    await inspect('console-board-skip')
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(await read(given(), task.id)).toMatchObject({ status: 'waiting_approval', draft_output: 'Toll gate' })
    await moveToDone()
    await page.getByRole('button', { name: 'Skip the approval' }).click()
    await inColumn(given(), 'Done', 'Headline')
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

  it('does not save a text over a draft that came while the task was closed', needs(testAll), async () => {
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
    await page.getByText('“Headline” is moved to Running.').waitFor()
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByText('Saved.').waitFor()
    expect(await read(given(), task.id)).toMatchObject({ draft_output: 'My draft', status: 'running' })
  })

  it('keeps what is typed during a save', async () => {
    const { page } = given()
    const { task } = await waiting('Toll gate')
    await page.getByRole('button', { name: 'Edit draft' }).click()
    const field = page.getByRole('textbox', { name: 'Draft' })
    const { opened, open: goOn } = gate()
    await page.route('**/api/tasks/*', async (route) => {
      if (route.request().method() === 'PATCH') await opened
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

  it('threat 227: shows a draft and the output whole where too much differs to be marked', needs(testAll), async () => {
    const { page, person } = given()
    const line = (word: string): string => `${word} `.repeat(80)
    const text = (word: string): string => Array.from({ length: 2_400 }, () => line(word)).join('\n\n')
    const made = await project(person, 'Headline', { requiresUserApproval: true })
    await change(given(), made.task.id, { output: text('toll') })
    await change(given(), made.task.id, { status: 'waiting_approval', draft_output: text('gate') })
    await given().open(`/projects/${made.id}?task=${made.task.id}`, 'Website')
    await page
      .getByText('Sentences: 2,400 removed, 2,400 added. They are too many to mark: here are both texts.')
      .waitFor()
    await expect.poll(() => page.locator('.pair .text').last().textContent()).toHaveLength(text('gate').length)
    await page.keyboard.press('Escape')
  })

  it('threat 209: shows both texts whole where they cannot be compared', async () => {
    const { page, person, faults } = given()
    const made = await project(person, 'Headline', { requiresUserApproval: true })
    await change(given(), made.task.id, { output: 'One toll' })
    await change(given(), made.task.id, { status: 'waiting_approval', draft_output: 'One gate' })
    await given().open(`/projects/${made.id}`, 'Website')
    await page.evaluate(() => {
      Intl.Segmenter.prototype.segment = () => {
        throw new Error('Not here')
      }
    })
    await page.getByRole('link', { name: 'Headline' }).first().click()
    await page.locator('.pair').waitFor()
    expect(await page.locator('.pair .text').allTextContents()).toEqual(['One toll', 'One gate'])
    expect(faults.splice(0).join()).toContain('Not here')
    await page.reload()
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
    expect(await cost.locator('tbody tr').count()).toBe(5)
    const { requests, total_tokens } = await person.client.get('/api/tasks/{id}/spend', { params: { id: task.id } })
    expect(requests).toBe(4)
    await cost.getByRole('row', { name: new RegExp(`In all .*4 .*${total_tokens} `) }).waitFor()
    await inspect('console-task-revisions')
  })
})

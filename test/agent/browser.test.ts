import type { Outcome } from '@turnpike/agent'
import type { FakeAnswer } from '@turnpike/providers/testing'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { scripted } from '../clients/scripted-upstream.js'
import { made, newProject, newTask, patchTask } from '../platform/work.js'
import type { SignedIn } from '../platform/world.js'
import { PASSWORD, worldSuite } from '../platform/world.js'
import { bundlePage, startBrowser } from '../support/browser.js'
import { answer, chunk, streamed } from '../support/gateway.js'
import { needs, programs } from '../support/needs.js'

type Task = Extract<Outcome, { status: 'done' }>['task']

/** What can go wrong, in the words of docs/agents.md. */
worldSuite('an agent in a browser', (world) => {
  describe('', needs(programs.chromium), () => {
    let browser: Browser
    let script: string
    let context: BrowserContext
    let page: Page
    let ada: SignedIn
    let task: Task

    beforeAll(async () => {
      browser = await startBrowser()
      script = await bundlePage(new URL('page.js', import.meta.url))
    })
    afterAll(() => browser.close())
    beforeEach(async () => {
      ada = await world().signedIn()
      task = (await newTask(world(), ada, (await newProject(world(), ada)).id)) as Task
      context = await browser.newContext()
      const files = { page: '<!doctype html><script type="module" src="/page.js"></script>', 'page.js': script }
      for (const [name, body] of Object.entries(files))
        await context.route(`${world().url}/${name}`, (route) =>
          route.fulfill({ contentType: name === 'page' ? 'text/html' : 'text/javascript', body }),
        )
      page = await context.newPage()
      await page.goto(`${world().url}/page`)
      await page.evaluate(`client.signIn(${JSON.stringify({ email: ada.email, password: PASSWORD })})`)
      return () => context.close()
    })

    /** A model that looks up the weather of a city, then writes what it was told; first it answers what is given. */
    const asksFor = (city: string, ...first: FakeAnswer[]): void => {
      world().fault = (request) =>
        first.shift() ??
        scripted('openai', request, (results) =>
          results.length === 0
            ? { text: 'Let me look.', calls: [{ id: 'a', name: 'look_up_weather', input: { city } }] }
            : { text: results.join(), calls: [] },
        )!
    }
    const run = (limits: object = {}): Promise<{ outcome: Outcome; retries: string[] }> =>
      page.evaluate(`run('${task.id}', ${JSON.stringify(limits)})`)
    const read = async (): Promise<Task> => made(await world().ask<Task>('GET', `/api/tasks/${task.id}`, { as: ada }))
    /** An agent that writes, and does not come to an end. */
    const begun = async () => {
      world().fault = () => streamed(chunk('So far'), new Promise(() => undefined))
      const ended = run()
      await expect.poll(async () => (await read()).draft_output).toBe('So far')
      return { ended }
    }

    it.each([
      ['Oslo', 'It is sunny in Oslo'],
      ['Bonn', 'This call was refused: Ask me tomorrow'],
      ['Rome', 'It failed: No such city'],
      ['Lima', 'It failed: look_up_weather took longer than 0.2 seconds'],
    ])('goes on whatever becomes of a call: %s', async (city, output) => {
      asksFor(city)
      expect(await run()).toMatchObject({ outcome: { status: 'done', task: { output, draft_output: null } } })
      expect(await read()).toMatchObject({ status: 'done', output })
    })

    it('asks again where a stream breaks off, and where the provider is overloaded', async () => {
      const broken = streamed(chunk('Half of'), new Error('broken'))
      asksFor('Oslo', broken, answer({ error: { message: 'Overloaded', type: 'server_error' } }, 500))
      const { outcome, retries } = await run()
      expect([outcome.status, retries.length]).toEqual(['done', 2])
      expect(await read()).toMatchObject({ status: 'done', output: 'It is sunny in Oslo' })
    })

    it.each([
      [{ steps: 1 }, 'It took more than 1 steps'],
      [{ tokens: 10 }, 'The task has used its 10 tokens'],
      [{ dollars: 0.000_001 }, 'The task has used its budget of $0.000001'],
    ])('ends at a limit, with the draft and the reason: %j', async (limits, reason) => {
      asksFor('Oslo')
      expect(await run(limits)).toMatchObject({ outcome: { status: 'failed', reason } })
      expect(await read()).toMatchObject({
        status: 'failed',
        draft_output: `Let me look.\n\n> Failed: ${reason}`,
        output: null,
      })
    })

    it('stops where the user changes the task meanwhile', async () => {
      const { ended } = await begun()
      const changed = made(await patchTask(world(), ada, task.id, { draft_output: 'Mine' }))
      expect(await ended).toMatchObject({ outcome: { status: 'taken' } })
      expect(await read()).toEqual(changed)
    })

    it('stops where the user deletes the project meanwhile', async () => {
      const { ended } = await begun()
      expect((await world().ask('DELETE', `/api/projects/${task.project_id}`, { as: ada })).status).toBe(204)
      expect(await ended).toMatchObject({ outcome: { status: 'deleted' } })
    })

    it('gives the task back when it is told to stop', async () => {
      const { ended } = await begun()
      await page.evaluate('controller.abort()')
      expect(await ended).toMatchObject({ outcome: { status: 'scheduled' } })
      expect(await read()).toMatchObject({ status: 'scheduled', draft_output: 'So far' })
    })

    it('gives the task up without a network, and another takes it up with the draft so far', async () => {
      const { ended } = await begun()
      await context.setOffline(true)
      expect(await ended).toMatchObject({ outcome: { status: 'lost' } })
      expect(await read()).toMatchObject({ status: 'running', draft_output: 'So far' })
      await context.setOffline(false)
      asksFor('Oslo')
      const before = world().upstream.requests.length
      expect(await run()).toMatchObject({ outcome: { status: 'done' } })
      expect(JSON.stringify(world().upstream.requests[before]!.body)).toContain('## Last draft\\n\\nSo far')
    })
  })
})

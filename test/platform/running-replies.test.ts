import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endEngines } from '../support/engines.js'
import { needs } from '../support/needs.js'
import { sample } from '../support/scope.js'
import type { Reply, SignedIn, World } from './world.js'
import { startWorld, stores } from './world.js'

interface Message {
  id: string
  role: string
  text: string
  state?: string
  thinking?: string
  cost_usd?: number
}

const event = (choices: object[], more: object = {}) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini', choices, ...more })}\n\n`
const said = (content: string, finish_reason: string | null = null) =>
  event([{ index: 0, delta: { content }, finish_reason }])
const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 }
const end = [said('', 'stop'), event([], { usage }), 'data: [DONE]\n\n']

/** Memory has one process, a folder too; servers have two. */
const shared = stores.map((store) => ({ ...store, processes: ['redis', 'postgres'].includes(store.name) ? 2 : 1 }))
const tried = sample(shared.toSorted((a, b) => b.processes - a.processes))

describe.each(tried)('replies that are being written, on $name', ({ needed, processes, create }) => {
  describe(`with ${processes} processes`, needs(...needed), () => {
    const worlds: World[] = []
    let storage: string
    const start = () => startWorld(storage, { RATE_LIMITER: 'memory' })
    beforeAll(async () => {
      storage = await create()
      for (let i = 0; i < processes; i++) worlds.push(await start())
    })
    afterAll(async () => {
      await Promise.all(worlds.map((world) => world.kill()))
      await endEngines()
    })
    /** The process that writes, and the other one where there is one. */
    const here = (): World => worlds[0]!
    const there = (): World => worlds.at(-1)!

    const newProject = async (as: SignedIn): Promise<string> =>
      `/api/projects/${(await there().ask<{ id: string }>('POST', '/api/projects', { as, body: { name: 'P' } })).body.id}`
    const messages = async (at: World, as: SignedIn, project: string): Promise<Message[]> =>
      (await at.ask<{ messages: Message[] }>('GET', `${project}/conversation`, { as })).body.messages
    const stop = (at: World, as: SignedIn, project: string, id: string): Promise<Reply<Message>> =>
      at.ask<Message>('POST', `${project}/conversation/messages/${id}/stop`, { as })
    const records = async (as: SignedIn) => {
      const admin = await here().signedIn('admin')
      return (await there().ask<{ records: object[] }>('GET', `/v1/users/${as.id}/usage`, { as: admin })).body.records
    }
    const answer = (steps: (string | Promise<unknown>)[]) => {
      here().fault = () => ({
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        body: (async function* () {
          for (const step of steps)
            if (typeof step === 'string') yield step
            else await step
        })(),
      })
    }
    const never = new Promise(() => undefined)
    /** Sends a message, and reads the reply until it has `text`. @returns its id, and what leaves it */
    const begin = async (as: SignedIn, project: string, text: string) => {
      const controller = new AbortController()
      const response = await fetch(`${here().url}${project}/conversation/messages`, {
        method: 'POST',
        headers: {
          accept: 'text/event-stream',
          'content-type': 'application/json',
          authorization: `Bearer ${as.access}`,
        },
        body: JSON.stringify({ text: 'Hello' }),
        signal: controller.signal,
      })
      expect(response.status).toBe(200)
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      let read = ''
      const readOn = async () => {
        for (;;) {
          const { done, value } = await reader.read()
          if (done) return read
          read += value
          if (read.includes(text)) return read
        }
      }
      await readOn()
      return {
        id: response.headers.get('x-reply-id')!,
        leave: () => controller.abort(),
        rest: () => ((text = '\0'), readOn()),
      }
    }

    it('go on where the caller leaves, and can be read as they grow', async () => {
      const ada = await here().signedIn()
      const project = await newProject(ada)
      let goOn!: () => void
      const opened = new Promise<void>((resolve) => (goOn = resolve))
      const thought = event([{ index: 0, delta: { reasoning_content: 'Hm. ' }, finish_reason: null }])
      const long = 'x'.repeat(9_000)
      answer([thought, said('Part one'), opened, said(', '), said(long), said(' end'), ...end])
      const { id, leave } = await begin(ada, project, 'Part one')
      leave()
      const one = async () =>
        (await there().ask<Message>('GET', `${project}/conversation/messages/${id}`, { as: ada })).body
      await expect.poll(one).toMatchObject({ text: 'Part one', thinking: 'Hm. ', state: 'running' })
      expect((await messages(there(), ada, project))[1]).toMatchObject({ text: 'Part one', state: 'running' })
      // The upstream is read on without anybody.
      expect(here().upstream.active).toBe(1)
      goOn()
      const text = `Part one, ${long} end`
      await expect.poll(async () => (await one()).state).toBe('done')
      expect(await one()).toMatchObject({
        text,
        thinking: 'Hm. ',
        model: 'gpt-4o-mini',
        finish_reason: 'stop',
        cost_usd: 0.0000135,
      })
      expect(await messages(there(), ada, project)).toMatchObject([{ text: 'Hello' }, { id, text }])
      expect(await records(ada)).toMatchObject([{ outcome: 'complete', tokens: 30 }])
      expect(await there().call('verify')).toEqual([])
    })

    it('are stopped by their user, from any process within two seconds, and kept and charged as far as they came', async () => {
      const ada = await here().signedIn()
      const project = await newProject(ada)
      answer([said('So far'), never])
      const { id, rest } = await begin(ada, project, 'So far')
      for (const as of [await here().signedIn(), await here().signedIn('admin')])
        expect((await stop(there(), as, project, id)).status).toBe(404)
      expect((await stop(there(), ada, project, ada.id)).status).toBe(404)
      const asked = Date.now()
      expect(await stop(there(), ada, project, id)).toMatchObject({ status: 200, body: { id } })
      expect(await rest()).toContain('{"error":"You stopped the reply"}')
      const one = async () => (await messages(there(), ada, project))[1]
      expect(await one()).toMatchObject({ text: 'So far', state: 'stopped' })
      expect(Date.now() - asked).toBeLessThan(10_000)
      await expect.poll(() => here().upstream.active).toBe(0)
      await expect.poll(() => records(ada)).toMatchObject([{ outcome: 'client_abort', accuracy: 'estimated' }])
      // Once more changes nothing.
      expect(await stop(here(), ada, project, id)).toMatchObject({
        status: 200,
        body: { text: 'So far', state: 'stopped' },
      })
      expect(await there().call('verify')).toEqual([])
    })

    it('are stopped before they begin', async () => {
      const ada = await here().signedIn()
      const project = await newProject(ada)
      answer([never])
      const sent = here().ask('POST', `${project}/conversation/messages`, {
        as: ada,
        body: { text: 'Hello' },
        headers: { accept: 'text/event-stream' },
      })
      await expect.poll(async () => (await messages(there(), ada, project)).at(-1)?.state).toBe('running')
      const { id } = (await messages(there(), ada, project))[1]!
      await stop(there(), ada, project, id)
      expect(await sent).toMatchObject({ status: 409, body: { error: 'You stopped the reply' } })
      expect((await messages(there(), ada, project))[1]).toMatchObject({ id, text: '', state: 'stopped' })
      await expect.poll(() => here().upstream.active).toBe(0)
    })

    it('have broken off where their process was killed, by whoever reads them then', async () => {
      const ada = await there().signedIn()
      const project = await newProject(ada)
      answer([said('Half an answer'), never])
      const { id } = await begin(ada, project, 'Half an')
      await expect.poll(async () => (await messages(there(), ada, project))[1]?.text).toBe('Half an answer')
      // Nobody else has the store of one process: its clock is set ahead of its own sign.
      if (processes === 2) {
        await here().kill()
        expect((await messages(there(), ada, project))[1]).toMatchObject({ text: 'Half an answer', state: 'running' })
      }
      await there().advance(31_000)
      expect((await messages(there(), ada, project))[1]).toMatchObject({ id, text: 'Half an answer', state: 'failed' })
      await there().advance(-31_000)
      if (processes === 2) worlds[0] = await start()
      await there().call('sweep')
      await expect.poll(() => there().call('verify')).toEqual([])
    })

    it('are kept as far as they came by a shutdown that does not wait for them', async () => {
      const ada = await here().signedIn()
      const project = await newProject(ada)
      answer([said('Until then'), never])
      const { rest } = await begin(ada, project, 'Until then')
      await here().call('drain', 10)
      expect((await messages(there(), ada, project))[1]).toMatchObject({ text: 'Until then', state: 'failed' })
      expect(await rest()).toContain('The server is shutting down')
    })

    it('threat 82: a hundred replies that are begun and left, at most ten of a user run', async () => {
      const ada = await here().signedIn()
      const project = await newProject(ada)
      answer([said('Mine'), never])
      const ask = (world: World) =>
        world.ask('POST', `${project}/conversation/messages`, {
          as: ada,
          body: { text: 'Hello' },
          headers: { accept: 'text/event-stream' },
        })
      for (const world of worlds) world.fault = here().fault
      const seen: Reply[] = []
      const all = Array.from({ length: 100 }, async (_, i) => {
        const reply = await ask(worlds[i % processes]!)
        seen.push(reply)
      })
      await expect.poll(() => seen.length).toBe(90)
      expect(new Set(seen.map(({ status, headers }) => `${status} ${headers.get('retry-after')}`))).toEqual(
        new Set(['429 5']),
      )
      const running = (await messages(there(), ada, project)).filter(({ state }) => state === 'running')
      expect(running).toHaveLength(10)
      // One that ends makes room for one.
      await stop(here(), ada, project, running[0]!.id)
      await expect.poll(() => seen.length).toBe(91)
      answer([said('Room'), ...end])
      for (const world of worlds) world.fault = here().fault
      expect((await ask(there())).status).toBe(200)
      await here().ask('DELETE', `${project}/conversation`, { as: ada })
      await Promise.all(all)
      await expect.poll(() => there().call('verify')).toEqual([])
    })

    // The last one, as its processes have other clocks then.
    it('end after half an hour', async () => {
      const ada = await here().signedIn()
      const project = await newProject(ada)
      answer([said('Slow'), never])
      const { rest, id } = await begin(ada, project, 'Slow')
      await here().advance(1_801_000)
      expect(await rest()).toContain('The reply took longer than 1800 seconds')
      const later = await here().signIn(ada.email)
      expect((await messages(here(), later, project))[1]).toMatchObject({ id, text: 'Slow', state: 'failed' })
      await expect.poll(() => here().upstream.active).toBe(0)
    })
  })
})

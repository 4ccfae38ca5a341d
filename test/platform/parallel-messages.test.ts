import type { FakeAnswer, FakeRequest } from '@turnpike/providers/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endEngines } from '../support/engines.js'
import { needs } from '../support/needs.js'
import { runs, sample } from '../support/scope.js'
import type { World } from './world.js'
import { startWorld, stores } from './world.js'

/** Memory has one process, a folder too; servers have two. */
const shared = stores.map((store) => ({ ...store, processes: ['redis', 'postgres'].includes(store.name) ? 2 : 1 }))
const tried = sample(shared.toSorted((a, b) => b.processes - a.processes))

interface Asked {
  messages: { role: string; content: string }[]
}

/** Answers with the last message, a word at a time, and with a usage of as many tokens as its number says. */
function echo({ body }: FakeRequest): FakeAnswer {
  const { content } = (body as Asked).messages.at(-1)!
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini' }
  const tokens = 1_000 + Number(/\d+/.exec(content)![0])
  const chunks = [
    ...`to ${content}`.split(/(?= )/).map((word) => ({
      ...head,
      choices: [{ index: 0, delta: { content: word }, finish_reason: null }],
    })),
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { ...head, choices: [], usage: { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens } },
  ]
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: (async function* () {
      for (const chunk of chunks) {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 5))
        yield `data: ${JSON.stringify(chunk)}\n\n`
      }
      yield 'data: [DONE]\n\n'
    })(),
  }
}

describe.each(tried)('messages of a conversation that are sent together, on $name', ({ needed, processes, create }) => {
  describe(`with ${processes} processes`, needs(...needed), () => {
    const worlds: World[] = []
    beforeAll(async () => {
      const storage = await create()
      for (let i = 0; i < processes; i++) {
        worlds.push(await startWorld(storage, { RATE_LIMITER: 'memory' }))
        worlds[i]!.fault = echo
      }
    })
    afterAll(async () => {
      await Promise.all(worlds.map((world) => world.kill()))
      await endEngines()
    })

    it('answers each one with a reply to it, which is stored and charged as such', async () => {
      const as = await worlds[0]!.signedIn()
      for (let round = 0; round < runs(5, 50); round++) {
        const { body: project } = await worlds[0]!.ask<{ id: string }>('POST', '/api/projects', {
          as,
          body: { name: 'P' },
        })
        const path = `/api/projects/${project.id}/conversation`
        const replies = await Promise.all(
          Array.from({ length: 8 }, async (_, i) => {
            const text = `message ${i}`
            const world = worlds[i % processes]!
            const headers = { accept: 'text/event-stream' }
            const {
              status,
              body,
              headers: told,
            } = await world.ask<string>('POST', `${path}/messages`, { as, body: { text }, headers })
            expect([status, body.includes('[DONE]')]).toEqual([200, true])
            const data = [...body.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json!))
            return {
              text,
              messageId: told.get('x-message-id'),
              replyId: told.get('x-reply-id'),
              reply: data.map(({ choices }) => choices[0]?.delta.content ?? '').join(''),
              tokens: data.findLast(({ usage }) => usage).usage.prompt_tokens,
            }
          }),
        )
        expect(replies.map(({ reply, tokens }) => [reply, tokens])).toEqual(
          replies.map(({ text }, i) => [`to ${text}`, 1_000 + i]),
        )
        const { body: conversation } = await worlds[0]!.ask<{ messages: { id: string; text: string }[] }>('GET', path, {
          as,
        })
        const stored = new Map(conversation.messages.map(({ id, text }) => [id, text]))
        expect(stored.size).toBe(16)
        for (const { text, messageId, replyId } of replies)
          expect([stored.get(messageId!), stored.get(replyId!)]).toEqual([text, `to ${text}`])
        const { body: spend } = await worlds[0]!.ask('GET', `${path}/spend`, { as })
        expect(spend).toMatchObject({ requests: 8, total_tokens: 8 * 1_000 + 28 })
      }
    })
  })
})

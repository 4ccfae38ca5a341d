import { describe, expect, it } from 'vitest'
import { failure, signedInClient } from '../../../test/support/client.js'
import type { TestOptions } from '../../../test/support/gateway.js'
import { chunk, streamed } from '../../../test/support/gateway.js'
import type { PlatformError } from './index.js'

/** A client whose models answer with these pieces. */
const withReply = async (...pieces: Parameters<typeof streamed>) => {
  const upstream: NonNullable<TestOptions['upstream']> = () => streamed(...pieces)
  const at = await signedInClient({}, { upstream })
  const { id } = await at.turnpike.post('/api/projects', { body: { name: 'Website' } })
  const ask = (signal?: AbortSignal) =>
    at.turnpike.stream('/api/projects/{id}/conversation/messages', { params: { id }, body: { text: 'Hi' }, signal })
  const stored = async () => (await at.turnpike.get('/api/projects/{id}/conversation', { params: { id } })).messages
  return { ...at, id, ask, stored }
}

/** The text of a stream, and what it ended with. */
async function read(events: AsyncIterable<{ choices: { delta: { content?: string | null } }[] }>) {
  let text = ''
  try {
    for await (const { choices } of events) text += choices[0]?.delta.content ?? ''
  } catch (error) {
    return { text, error: error as PlatformError }
  }
  return { text }
}

const hello = [chunk('Hel'), chunk('lo'), chunk('', 'stop'), '[DONE]']

describe('a stream', () => {
  it('has the events of the platform, and the ids of what was stored', async () => {
    const { turnpike, id, stored } = await withReply(...hello)
    let ids: (string | null)[] = []
    const events = turnpike.stream('/api/projects/{id}/conversation/messages', {
      params: { id },
      body: { text: 'Hi' },
      onResponse: ({ headers }) => void (ids = ['x-message-id', 'x-reply-id'].map((name) => headers.get(name))),
    })
    expect(await read(events)).toEqual({ text: 'Hello' })
    expect((await stored()).map((message) => message.id)).toEqual(ids)
  })

  it('has those of the gateway, which is asked for a stream', async () => {
    const { turnpike, sent } = await withReply(...hello)
    sent.splice(0)
    const body = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'Hi' }] }
    expect(await read(turnpike.stream('/api/gateway/v1/chat/completions', { body }))).toEqual({ text: 'Hello' })
    expect(sent).toEqual(['POST /api/gateway/v1/chat/completions'])
  })

  it('sends nothing before it is read', async () => {
    const { ask, sent } = await withReply(...hello)
    sent.splice(0)
    await ask().return()
    expect(sent).toEqual([])
  })

  it('rejects where it is refused before it begins', async () => {
    const { turnpike } = await withReply(...hello)
    const nobody = turnpike.stream('/api/projects/{id}/conversation/reply', { params: { id: 'x' } })
    expect(await failure(nobody.next())).toMatchObject({ status: 404, message: 'There is no such project' })
  })

  it('throws the error that the platform ends it with', async () => {
    const { ask } = await withReply(chunk('Hel'), new Error('The connection broke'))
    const { text, error } = await read(ask())
    expect(text).toBe('Hel')
    expect(error).toMatchObject({ name: 'PlatformError', status: 200, code: undefined })
    expect([error?.requestId, error?.message]).toEqual([expect.stringMatching(/-/), expect.stringMatching(/\w/)])
  })

  it('throws the error that the gateway ends it with', async () => {
    const { turnpike } = await withReply(chunk('Hel'), new Error('The connection broke'))
    const body = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'Hi' }] }
    const { text, error } = await read(turnpike.stream('/api/gateway/v1/chat/completions', { body }))
    expect(text).toBe('Hel')
    expect(error).toMatchObject({ status: 200, code: expect.any(String), details: { type: expect.any(String) } })
  })

  it.each([
    ['ends without its last event', 'data: {"choices":[]}\n\n', 'stream_incomplete'],
    ['ends within an event', 'data: {"choices":[]}\n\ndata: [DO', 'stream_incomplete'],
    ['is empty', '', 'stream_incomplete'],
    ['has an event that is no JSON', 'data: {"secret\n\ndata: [DONE]\n\n', 'stream_invalid'],
  ])('throws where it %s', async (_, text, code) => {
    const { ask, faults } = await withReply()
    const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': 'r1' }
    faults.push(() => new Response(text, { headers }))
    const { error } = await read(ask())
    expect(error).toMatchObject({ name: 'PlatformError', status: 200, code, requestId: 'r1' })
    expect(error!.message).not.toContain('secret')
  })

  it('throws where the answer is none, as without a model that could reply', async () => {
    const { ask, faults } = await withReply()
    faults.push(() => Response.json({ id: 'x' }))
    expect((await read(ask())).error).toMatchObject({ code: 'stream_invalid', message: 'The answer is no stream' })
  })

  it('ends with the reason of its signal, whatever has come already', async () => {
    const { ask, signals } = await withReply(...hello)
    const controller = new AbortController()
    const events = ask(controller.signal)
    await events.next()
    controller.abort(new Error('Enough'))
    expect(await failure(events.next())).toEqual(new Error('Enough'))
    expect(signals).toHaveLength(1)
  })

  it('stops the model of the gateway when its loop is left', async () => {
    const { turnpike, signals } = await withReply(chunk('Hel'), new Promise(() => undefined))
    const body = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'Hi' }] }
    for await (const { choices } of turnpike.stream('/api/gateway/v1/chat/completions', { body }))
      if (choices[0]?.delta.content === 'Hel') break
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  })

  it('of a conversation leaves the reply to go on, which is stopped by a request of its own', async () => {
    const { turnpike, id, signals, stored } = await withReply(chunk('Hel'), new Promise(() => undefined))
    let replyId = ''
    const onResponse = ({ headers }: Response) => void (replyId = headers.get('x-reply-id')!)
    const reply = turnpike.stream('/api/projects/{id}/conversation/messages', {
      params: { id },
      body: { text: 'Hi' },
      onResponse,
    })
    for await (const { choices } of reply) if (choices[0]?.delta.content === 'Hel') break
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    await turnpike.post('/api/projects/{id}/conversation/messages/{messageId}/stop', {
      params: { id, messageId: replyId },
    })
    await expect.poll(stored).toMatchObject([{ text: 'Hi' }, { text: 'Hel', state: 'stopped' }])
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  })
})

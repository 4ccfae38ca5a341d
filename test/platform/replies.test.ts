import { expect, it } from 'vitest'
import type { SignedIn, World } from './world.js'
import { aTime, unknownId, uuid, worldSuite } from './world.js'

interface Message {
  id: string
  role: string
  text: string
  timestamp: string
  state?: string
}
interface Conversation {
  id: string
  project_id: string
  messages: Message[]
}

/** The body of a stream of events, such as the fake upstream sends. */
const events = (...chunks: unknown[]) =>
  chunks.map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`)
const chunk = (content: string, finish_reason: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'gpt-4o-mini',
  choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason }],
})

/** Replies in conversations. */
worldSuite('replies', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const newProject = async (as: SignedIn): Promise<string> =>
    (await ask<{ id: string }>('POST', '/api/projects', { as, body: { name: 'P' } })).body.id
  const conversation = async (as: SignedIn, id: string, query = '') =>
    ask<Conversation>('GET', `/api/projects/${id}/conversation${query}`, { as })
  const send = (as: SignedIn, id: string, body: object, headers = {}) =>
    ask<Message & string>('POST', `/api/projects/${id}/conversation/messages`, { as, body, headers })
  const streamed = { accept: 'text/event-stream' }
  /** The data of the events of an answer. */
  const dataOf = (text: string): (string | { choices?: { delta: { content?: string } }[]; error?: string })[] =>
    [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => (data === '[DONE]' ? data : JSON.parse(data!)))
  const textOf = (text: string): string =>
    dataOf(text)
      .map((data) => (typeof data === 'string' ? '' : (data.choices?.[0]?.delta.content ?? '')))
      .join('')
  const upstreamBodies = () =>
    world().upstream.requests.map(
      ({ body }) => body as { model: string; messages: { role: string; content: string }[] },
    )
  const answerInPieces = (pieces: Iterable<string>, end?: () => Promise<void>) => {
    world().fault = () => ({
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: (async function* () {
        for (const piece of pieces) yield piece
        await end?.()
      })(),
    })
  }

  it('streams the reply of the agents’ model as chunks, and stores both messages before [DONE]', async () => {
    const ada = await world().signedIn()
    const id = await newProject(ada)
    await send(ada, id, { text: 'Be brief', role: 'system' })
    const before = world().upstream.requests.length
    const { status, body, headers } = await send(ada, id, { text: 'Hello' }, streamed)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    const data = dataOf(body)
    expect(data.at(-1)).toBe('[DONE]')
    expect(data.at(-2)).toMatchObject({ object: 'chat.completion.chunk', choices: [], usage: { total_tokens: 30 } })
    const { messages, id: conversationId } = (await conversation(ada, id)).body
    expect(messages).toEqual([
      { id: uuid, role: 'system', text: 'Be brief', timestamp: aTime },
      { id: headers.get('x-message-id'), role: 'user', text: 'Hello', timestamp: aTime },
      {
        id: headers.get('x-reply-id'),
        role: 'assistant',
        text: textOf(body),
        timestamp: aTime,
        state: 'done',
        model: 'gpt-4o-mini',
        finish_reason: 'stop',
        prompt_tokens: 19,
        completion_tokens: 11,
        cost_usd: 0.00000945,
      },
    ])
    expect(textOf(body)).not.toBe('')
    expect(upstreamBodies().slice(before)).toMatchObject([
      {
        model: 'gpt-4o-mini',
        messages: [
          { role: 'system', content: 'Be brief' },
          { role: 'user', content: 'Hello' },
        ],
      },
    ])

    // It is the user's request, and counts for the project and the conversation.
    const spend = async (path: string) => (await ask<object>('GET', path, { as: ada })).body
    for (const path of [`/api/projects/${id}/spend`, `/api/projects/${id}/conversation/spend`])
      expect(await spend(path)).toMatchObject({ requests: 1, total_tokens: 30 })
    const admin = await world().signedIn('admin')
    const { body: usage } = await ask<{ records: object[] }>('GET', `/v1/users/${ada.id}/usage`, { as: admin })
    expect(usage.records).toMatchObject([{ project_id: id, conversation_id: conversationId, key_id: '' }])
  })

  it('stores only, without the header', async () => {
    const ada = await world().signedIn()
    const id = await newProject(ada)
    const before = world().upstream.requests.length
    for (const headers of [{}, { accept: 'application/json' }, { accept: '*/*' }, { accept: 'text/event-stream;q=0' }])
      expect((await send(ada, id, { text: 'Hello' }, headers)).body.role).toBe('user')
    expect((await send(ada, id, { text: 'Hello', role: 'system' }, streamed)).body.role).toBe('system')
    expect(world().upstream.requests).toHaveLength(before)
  })

  it('stores a reply that breaks off as far as it came, and marks it', async () => {
    const ada = await world().signedIn()
    const id = await newProject(ada)
    answerInPieces(events(chunk('Half an '), chunk('answer')))
    const { status, body } = await send(ada, id, { text: 'Hello' }, streamed)
    world().fault = undefined
    const data = dataOf(body)
    expect([status, textOf(body)]).toEqual([200, 'Half an answer'])
    expect(data.at(-1)).toEqual({ error: expect.any(String) as string })
    expect(body).not.toContain('[DONE]')
    const { messages } = (await conversation(ada, id)).body
    expect(messages[1]).toMatchObject({ role: 'assistant', text: 'Half an answer', state: 'failed' })
  })

  it('threat 49: ends a reply that is longer than a million characters, and stores it so far', async () => {
    const ada = await world().signedIn()
    const id = await newProject(ada)
    let sent = 0
    answerInPieces(
      (function* () {
        for (; sent < 1_000; sent++) yield* events(chunk('x'.repeat(100_000)))
      })(),
    )
    const { status, body } = await send(ada, id, { text: 'Hello' }, streamed)
    world().fault = undefined
    expect([status, textOf(body).length, dataOf(body).at(-1)]).toEqual([
      200,
      1_000_000,
      { error: 'The reply is longer than 1048576 characters' },
    ])
    expect((await conversation(ada, id)).body.messages[1]).toMatchObject({ text: textOf(body), state: 'failed' })
    await expect.poll(() => world().upstream.active, { timeout: 10_000 }).toBe(0)
    expect(sent).toBeLessThan(1_000)
    expect((await send(ada, id, { text: 'Shorter, please' }, streamed)).status).toBe(200)
  })

  it('threat 88: a reply has as many characters where its texts are lists or objects', async () => {
    const ada = await world().signedIn()
    const id = await newProject(ada)
    const ending = [chunk('', 'stop'), '[DONE]']
    for (const thoughts of [
      Array.from({ length: 2 }, () => ['x'.repeat(700_000)]),
      Array.from({ length: 1_000 }, () => ({})),
    ]) {
      const deltas = thoughts.map((reasoning_content) => ({
        index: 0,
        delta: { reasoning_content },
        finish_reason: null,
      }))
      answerInPieces(events(...deltas.map((choice) => ({ ...chunk(''), choices: [choice] })), ...ending))
      await send(ada, id, { text: 'Hello' }, streamed)
    }
    world().fault = undefined
    const { messages } = (await conversation(ada, id)).body as { messages: { thinking?: string; state?: string }[] }
    expect(messages.filter(({ state }) => state).map(({ thinking, state }) => [thinking?.length, state])).toEqual([
      [700_004, 'failed'],
      [2_000, 'done'],
    ])
  })

  it('answers with the status of a reply that does not begin, and keeps the message', async () => {
    const ada = await world().signedIn()
    const id = await newProject(ada)
    const before = world().upstream.requests.length
    world().fault = () => ({ status: 500, headers: {}, body: '{}' })
    const refused = await send(ada, id, { text: 'Hello' }, streamed)
    world().fault = undefined
    expect([refused.status, Object.keys(refused.body)]).toEqual([502, ['error']])
    // The agents' model, then its alternative.
    expect(
      upstreamBodies()
        .slice(before)
        .map(({ model }) => model),
    ).toEqual(['gpt-4o-mini', 'gpt-4o'])
    const { messages } = (await conversation(ada, id)).body
    expect(messages.map(({ role, text }) => [role, text])).toEqual([['user', 'Hello']])
  })

  it('answers 429 with Retry-After where the upstream limits the rate, for a message as for another try', async () => {
    const ada = await world().signedIn()
    const id = await newProject(ada)
    world().fault = () => ({ status: 429, headers: { 'retry-after': '7' }, body: '{}' })
    const sent = await send(ada, id, { text: 'Hello' }, streamed)
    const again = await ask('POST', `/api/projects/${id}/conversation/reply`, { as: ada })
    world().fault = undefined
    expect([sent.status, sent.headers.get('retry-after')]).toEqual([429, '7'])
    expect([again.status, again.headers.get('retry-after')]).toEqual([429, '7'])
  })

  it('tries again to reply to the last message', async () => {
    const ada = await world().signedIn()
    const id = await newProject(ada)
    const again = () => ask<string & object>('POST', `/api/projects/${id}/conversation/reply`, { as: ada })
    expect((await again()).status).toBe(400)
    answerInPieces(events(chunk('Half')))
    await send(ada, id, { text: 'Hello' }, streamed)
    world().fault = undefined
    const before = world().upstream.requests.length
    const { status, body, headers } = await again()
    expect([status, dataOf(body).at(-1)]).toEqual([200, '[DONE]'])
    // Without the half reply.
    expect(upstreamBodies().slice(before)).toMatchObject([{ messages: [{ role: 'user', content: 'Hello' }] }])
    const { messages } = (await conversation(ada, id)).body
    expect(messages.map(({ role, text, state }) => [role, text, state])).toEqual([
      ['user', 'Hello', undefined],
      ['assistant', 'Half', 'failed'],
      ['assistant', textOf(body), 'done'],
    ])
    expect(messages[2]!.id).toBe(headers.get('x-reply-id'))
    expect((await ask('POST', `/api/projects/${unknownId}/conversation/reply`, { as: ada })).status).toBe(404)
  })

  it('replies with the alternative where the first model fails', async () => {
    const ada = await world().signedIn()
    const id = await newProject(ada)
    let calls = 0
    world().fault = () => {
      if (++calls === 1) return { status: 503, headers: {}, body: '{}' }
      return {
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        body: events(chunk('From the other', 'stop'), '[DONE]').join(''),
      }
    }
    const { body } = await send(ada, id, { text: 'Hello' }, streamed)
    world().fault = undefined
    expect([textOf(body), dataOf(body).at(-1)]).toEqual(['From the other', '[DONE]'])
  })

  const deletions: [what: string, remove: (as: SignedIn, id: string) => Promise<unknown>, left?: Message[]][] = [
    ['conversation is cleared', (as, id) => ask('DELETE', `/api/projects/${id}/conversation`, { as }), []],
    ['project is deleted', (as, id) => ask('DELETE', `/api/projects/${id}`, { as })],
    ['user is deleted', async ({ id }) => ask('DELETE', `/api/users/${id}`, { as: await world().signedIn('admin') })],
  ]
  it.each(deletions)('ends a reply whose %s, and charges it as far as it came', async (_, remove, left) => {
    const ada = await world().signedIn()
    const id = await newProject(ada)
    answerInPieces(events(chunk('Too ')), () => new Promise(() => undefined))
    const reply = send(ada, id, { text: 'Hello' }, streamed)
    await expect.poll(() => world().upstream.active).toBe(1)
    await expect.poll(async () => (await conversation(ada, id)).body.messages.length).toBe(2)
    await remove(ada, id)
    const { body } = await reply
    world().fault = undefined
    expect([textOf(body), dataOf(body).at(-1)]).toEqual(['Too ', { error: 'There is no such conversation' }])
    expect((await conversation(ada, id)).body.messages).toEqual(left)
    await expect.poll(() => world().upstream.active, { timeout: 10_000 }).toBe(0)
    const admin = await world().signedIn('admin')
    // Nobody sees the records of a deleted user.
    await ask('POST', `/api/users/${ada.id}/restore`, { as: admin })
    const usage = () => ask<{ records: object[] }>('GET', `/v1/users/${ada.id}/usage`, { as: admin })
    await expect
      .poll(async () => (await usage()).body.records, { timeout: 10_000 })
      .toMatchObject([{ outcome: 'client_abort', project_id: id }])
    expect(await world().call('verify')).toEqual([])
  })
})

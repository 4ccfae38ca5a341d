import { fileURLToPath } from 'node:url'
import type { FakeAnswer, FakeUpstream } from '@turnpike/providers/testing'
import { fakeOpenAI } from '@turnpike/providers/testing'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { answer, chunk, streamed } from '../support/gateway.js'
import { randomOf } from '../support/random.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'
import { joinText, parseStream } from '../support/sse.js'

const [KEY, LIMITED] = ['gw-guards-0123456789', 'gw-guards-limited-0123456789']
const SECRET = 'sk-abcdefghij0123456789'
const spent = { prompt_tokens: 9, completion_tokens: 3 }
const usage = { ...spent, total_tokens: 12 }
const end = [chunk('', 'stop'), { ...chunk(''), choices: [], usage }, '[DONE]']
const script = fileURLToPath(new URL('guards-server.mjs', import.meta.url))

let given: () => FakeAnswer
let upstream: FakeUpstream
let server: Server
let close: () => Promise<void>
beforeAll(async () => {
  upstream = fakeOpenAI({ override: () => given() })
  const listening = await upstream.listen()
  close = listening.close
  const env = { OPENAI_BASE_URL: `${listening.url}/v1`, GATEWAY_KEY: KEY, LIMITED_KEY: LIMITED }
  server = await startServer(env, { script })
})
afterAll(async () => {
  await server.stop()
  await close()
})

const ask = (fields: object = {}, key = KEY, signal?: AbortSignal) =>
  fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-gateway-explain': 'true' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], ...fields }),
    ...(signal && { signal }),
  })
const says = (content: string) => ({ messages: [{ role: 'user', content }] })
const stream = { stream: true, stream_options: { include_usage: true } }

/** The usage records of all requests, newest first. */
async function records(): Promise<{ prompt_tokens: number; completion_tokens: number }[]> {
  const get = async (path: string): Promise<unknown> =>
    (await fetch(server.url + path, { headers: { authorization: `Bearer ${KEY}` } })).json()
  const { data } = (await get('/v1/users')) as { data: { id: string }[] }
  return (
    (await get(`/v1/users/${data[0]!.id}/usage`)) as { records: { prompt_tokens: number; completion_tokens: number }[] }
  ).records
}

it('threat 70: streams do not carry what whole answers do not, however it is split', async () => {
  const random = randomOf(42)
  const text = `Your key is ${SECRET}, and again ${SECRET}${SECRET}. Keep it safe, ${'and well, '.repeat(10)} 😀 ${SECRET}`
  const clean = text.replaceAll(SECRET, '[removed]')
  for (let run = 0; run < 20; run++) {
    const pieces: string[] = []
    for (let at = 0; at < text.length;) pieces.push(text.slice(at, (at += 1 + Math.floor(random() * 12))))
    const thoughts = pieces.map((piece) => ({
      ...chunk(''),
      choices: [{ index: 0, delta: { reasoning_content: piece }, finish_reason: null }],
    }))
    const call = (piece: string, at: number) => ({
      ...chunk(''),
      choices: [
        {
          index: 0,
          delta: {
            tool_calls: [
              {
                index: 0,
                ...(at === 0 && { id: 'c', type: 'function' }),
                function: { ...(at === 0 && { name: 'f' }), arguments: piece },
              },
            ],
          },
          finish_reason: null,
        },
      ],
    })
    const calls = [
      ...[`{"key":"`, ...pieces.map((piece) => JSON.stringify(piece).slice(1, -1)), `"}`].map(call),
      chunk('', 'tool_calls'),
      ...end.slice(1),
    ]
    given = () => streamed(...thoughts, ...pieces.map((piece) => chunk(piece)), ...calls)
    const sent = await (await ask({ ...stream, logprobs: true })).text()
    const events = parseStream(sent)
    const deltas = events
      .flatMap((event) => (event.type === 'chunk' ? event.chunk.choices : []))
      .map(({ delta }) => delta)
    expect(joinText(events)).toBe(clean)
    expect(deltas.map((delta) => delta['reasoning_content'] ?? '').join('')).toBe(clean)
    const written = deltas
      .flatMap((delta) => delta.tool_calls ?? [])
      .map((one) => one.function?.arguments ?? '')
      .join('')
    expect(JSON.parse(written)).toEqual({ key: clean })
    expect(events.slice(-2)).toMatchObject([{ chunk: { choices: [], usage } }, { type: 'done' }])
  }
})

it('threat 70: a text that others interrupt goes on as one text, and ends with an error where its beginning was sent', async () => {
  const others: ((text: string, at: number) => object)[] = [
    (text, at) => ({
      tool_calls: [
        {
          index: 0,
          ...(at === 0 && { id: 'c', type: 'function' }),
          function: { ...(at === 0 && { name: 'f' }), arguments: text },
        },
      ],
    }),
    (text) => ({ reasoning_content: text }),
    (refusal) => ({ refusal }),
  ]
  const delta = (delta: object) => ({ ...chunk(''), choices: [{ index: 0, delta, finish_reason: null }] })
  for (const other of others)
    for (const length of [0, 20, 50, 100, 5_000]) {
      const between = Array.from({ length: length / 10 }, (_, at) => delta(other('1234567890', at)))
      given = () => streamed(chunk('It is sk-abcdefghij'), ...between, chunk('0123456789, so'), ...end)
      const events = parseStream(await (await ask(stream)).text())
      const isSent = length > 30
      expect([length, joinText(events)]).toEqual([
        length,
        isSent ? expect.stringMatching(/^(It is sk-abcdefghij)?$/) : 'It is [removed], so',
      ])
      expect(events.at(-1)).toMatchObject(isSent ? { error: { code: 'content_filter' } } : { type: 'done' })
      // What is no secret goes on.
      given = () => streamed(chunk('It is sk-abc'), ...between, chunk('def, so'), ...end)
      const harmless = parseStream(await (await ask(stream)).text())
      expect([joinText(harmless), harmless.at(-1)]).toMatchObject(['It is sk-abcdef, so', { type: 'done' }])
    }
})

it('threat 70: an answer that a guard refuses ends with an error in every form, as clients of OpenAI see it', async () => {
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: KEY })
  const words = Array.from({ length: 20 }, () => chunk('word '))
  const asked = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'Hi' }] }
  for (const pieces of [
    [...words, chunk('for'), chunk('bidden'), ...words, ...end],
    [...words, chunk('wrong in'), chunk(' the end'), ...end],
  ]) {
    given = () => streamed(...pieces)
    let text = ''
    let finish: string | null = null
    const reading = (async () => {
      for await (const { choices } of await client.chat.completions.create({ ...asked, stream: true })) {
        text += choices[0]?.delta.content ?? ''
        finish ??= choices[0]?.finish_reason ?? null
      }
    })()
    await expect(reading).rejects.toMatchObject({ code: 'content_filter' })
    expect([text.includes('forbidden'), finish]).toEqual([false, null])
    expect(text).toMatch(/^(word )*(wrong in the end)?$/)
  }
  const content = 'this is forbidden'
  given = () =>
    answer({
      id: 'a',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      usage,
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    })
  const before = upstream.requests.length
  await expect(client.chat.completions.create(asked)).rejects.toMatchObject({ status: 400, code: 'content_filter' })
  // It was paid, and is not asked for again.
  expect(upstream.requests.length).toBe(before + 1)
  expect((await records())[0]).toMatchObject(spent)
})

it('threat 87: what stands beside the messages does not have their texts again', async () => {
  const again = { content: SECRET }
  const beside = { message: again, text: SECRET, token_ids: [1], logprobs: { content: [{ token: 'sk-' }] } }
  const top = { completion_probabilities: [again], __verbose: again }
  const choice = { ...beside, index: 0, delta: again }
  given = () => streamed({ ...chunk(''), ...top, choices: [choice] }, ...end)
  const events = await (await ask({ ...stream, n_probs: 5 })).text()
  given = () => answer({ id: 'a', model: 'm', usage, ...top, choices: [{ ...choice, finish_reason: 'stop' }] })
  for (const text of [events, await (await ask({ n_probs: 5 })).text()]) {
    expect(text).toContain('[removed]')
    expect(text).not.toMatch(/sk-|token_ids|probabilities/)
  }
})

it('threat 69: an answer that a guard keeps is for callers who may use the model, and costs nothing', async () => {
  const [before, calls] = [(await records()).length, upstream.requests.length]
  const refused = await ask({ ...says('kept'), model: 'gpt-4o' }, LIMITED)
  expect([refused.status, await refused.text()]).toEqual([403, expect.not.stringContaining('chatcmpl-kept')])
  for (const key of [KEY, LIMITED]) {
    const whole = await ask(says('kept'), key)
    expect([whole.headers.get('x-gateway-answered-by'), whole.headers.get('x-gateway-cost')]).toEqual(['cache', '0'])
    expect(await whole.json()).toMatchObject({ choices: [{ message: { content: 'kept [removed]' } }] })
    const streamedAnswer = await (await ask({ ...says('kept'), ...stream }, key)).text()
    expect(joinText(parseStream(streamedAnswer))).toBe('kept [removed]')
  }
  expect([(await records()).length, upstream.requests.length]).toEqual([before, calls])
})

it('threat 71: refused answers are charged under a budget, and no guard keeps a request for longer than its time', async () => {
  given = () => streamed(chunk('forbidden words'), ...Array.from({ length: 50 }, () => chunk(' and more')), ...end)
  const refused = await (await ask({ ...stream, max_tokens: 50 }, LIMITED)).text()
  expect(parseStream(refused).at(-1)).toMatchObject({ error: { code: 'content_filter' } })
  expect((await records())[0]).toMatchObject(spent)

  const calls = upstream.requests.length
  const hangs = await ask(says('hang'))
  expect([hangs.status, upstream.requests.length]).toEqual([500, calls])
})

it('has comments while a guard takes its time', async () => {
  given = () => streamed(chunk('Hello'), ...end)
  const text = await (await ask({ ...stream, ...says('slowly') })).text()
  expect(text).toMatch(/^: ping\n\n/)
  expect([joinText(parseStream(text)), text.endsWith('data: [DONE]\n\n')]).toEqual(['Hello', true])
})

it('ends the upstream call when the client leaves while a guard takes its time', async () => {
  let isClosed = false
  given = () => ({
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: (async function* () {
      try {
        for (;;) {
          yield `data: ${JSON.stringify(chunk('word '))}\n\n`
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
      } finally {
        isClosed = true
      }
    })(),
  })
  const before = (await records()).length
  const leaving = new AbortController()
  const { body } = await ask({ ...stream, ...says('slowly') }, KEY, leaving.signal)
  await body!.getReader().read()
  leaving.abort()
  await expect.poll(() => isClosed).toBe(true)
  await expect.poll(async () => (await records()).length).toBe(before + 1)
})

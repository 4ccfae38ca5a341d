import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Asked, Guard } from '@turnpike/gateway'
import { unstorageBlobs } from '@turnpike/storage'
import { expect, it } from 'vitest'
import { cache } from '../examples/guards/cache.js'
import { keep } from '../examples/guards/keep.js'
import { byOpenai, moderation } from '../examples/guards/moderation.js'
import { redact } from '../examples/guards/redact.js'
import { errorOf, OWNER, testGateway, withKey } from './support/gateway.js'
import { mapDriver } from './support/map-driver.js'
import { expectLinear } from './support/linear.js'
import { joinText, parseStream } from './support/sse.js'

const says = (content: string, fields: object = {}) => ({ messages: [{ role: 'user', content }], ...fields })
const stream = { stream: true, stream_options: { include_usage: true } }

/** A gateway with guards, in front of one that answers "You said: …". */
const echoing = (...guards: Guard[]) => testGateway({ guards })

/** The text of an answer, whole or streamed. */
async function textOf(response: Response): Promise<string> {
  const body = await response.text()
  if (body.startsWith('data:')) return joinText(parseStream(body))
  return (JSON.parse(body) as { choices: { message: { content: string } }[] }).choices[0]!.message.content
}

it('redact: no provider sees personal data, and the answer has them', async () => {
  const { chat, sent, send, upstream } = await echoing(redact)
  const cards = ['4111 1111 1111 1111', '4111.1111.1111.1111', '4111/1111/1111/1111', '4111\u00a01111\n1111-1111']
  const data = ['ada@example.org', 'ädä@bücher.example', ...cards, 'DE02 1203 0000 0000 2020 51', '+49 30 901820-00']
  const text = `Write to ${data.join(', or ')}; again ${data[0]}`
  for (const fields of [{}, stream]) {
    expect(await textOf(await chat(says(text, { system: 'I am bob@example.org', ...fields })))).toContain(
      `You said: ${text}`,
    )
    const request = JSON.stringify(sent())
    for (const value of [...data, 'bob@example.org']) expect(request).not.toContain(value)
    expect(request).toContain('Write to <PERSONAL_0>, or <PERSONAL_1>')
  }
  await send('POST', '/v1/embeddings', { model: 'text-embedding-3-small', input: ['a', data[0]] })
  expect(upstream.requests.at(-1)!.body).toMatchObject({ input: ['a', '<PERSONAL_0>'] })
})

it('threat 171: redact hides nothing long, which an answer would put back as often as it says the name', async () => {
  const { chat, sent } = await echoing(redact)
  const ask = (length: number) => chat(says(`Write to ${'a'.repeat(length)}@example.org`))
  expect((await ask(64)).status).toBe(200)
  expect(JSON.stringify(sent())).toContain('Write to <PERSONAL_0>')
  expect(await errorOf(await ask(65))).toMatchObject({ code: 'content_filter' })
})

it('redact: neither pictures nor speech nor recordings tell of personal data', async () => {
  const { send, upstream } = await echoing(redact)
  const body = () => JSON.stringify(upstream.requests.at(-1)?.body)
  const prompt = 'A card for ada@example.org'
  await send('POST', '/v1/images/generations', { model: 'dall-e-3', prompt })
  expect(body()).toContain('A card for <PERSONAL_0>')
  const count = upstream.requests.length
  for (const fields of [{ input: prompt }, { input: 'Hi', instructions: prompt }]) {
    const spoken = await send('POST', '/v1/audio/speech', { model: 'gpt-4o-mini-tts', voice: 'alloy', ...fields })
    expect(await errorOf(spoken)).toMatchObject({ code: 'content_filter' })
  }
  expect(upstream.requests).toHaveLength(count)
  const form = new FormData()
  form.set('model', 'whisper-1')
  form.set('prompt', prompt)
  form.set('file', new File(['RIFF'], 'ada@example.org.wav', { type: 'audio/wav' }))
  const asked: Asked[] = []
  const seeing = await echoing(redact, { name: 'see', request: (one) => void asked.push(one) })
  await seeing.send('POST', '/v1/audio/transcriptions', form)
  expect(asked).toMatchObject([{ request: { prompt: 'A card for <PERSONAL_0>', file: { name: 'audio.wav' } } }])
  form.set('known_speaker_names', 'ada@example.org')
  await seeing.send('POST', '/v1/audio/transcriptions', form)
  await seeing.send('POST', '/v1/images/generations', { model: 'dall-e-3', prompt, style: 'ada@example.org' })
  await seeing.send('POST', '/v1/embeddings', { model: 'text-embedding-3-small', input: 'a', task: 'ada@example.org' })
  expect(JSON.stringify([asked, seeing.upstream.requests])).not.toContain('ada@')
})

it('moderation: refuses requests and answers, and passes nothing that could not be judged', async () => {
  const asked: string[][] = []
  let status = 200
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (data: Buffer) => (body += data.toString()))
    request.on('end', () => {
      const { input } = JSON.parse(body) as { input: string[] }
      asked.push(input)
      response.statusCode = status
      response.end(JSON.stringify({ results: input.map((text) => ({ flagged: text.includes('harmful') })) }))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const guard = moderation(byOpenai('sk-moderation', `http://127.0.0.1:${port}/v1`))
  try {
    const { chat, send, upstream, records } = await echoing(guard)
    const refused = await chat(says('a harmful text'))
    expect([refused.status, await errorOf(refused)]).toMatchObject([400, { code: 'content_filter' }])
    const picture = await send('POST', '/v1/images/generations', { model: 'gpt-image-2', prompt: 'harmful' })
    expect([picture.status, upstream.requests]).toEqual([400, []])
    for (const fields of [{}, stream]) expect(await textOf(await chat(says('Hi', fields)))).toContain('You said: Hi')
    expect(asked.slice(2)).toEqual(
      Array.from({ length: 2 }, () => [
        expect.arrayContaining(['content', 'Hi']),
        [expect.stringContaining('You said: Hi')],
      ]).flat(),
    )
    status = 500
    const unknown = await chat(says('Hi'))
    expect([unknown.status, (await records()).length]).toEqual([500, 2])
  } finally {
    server.close().closeAllConnections()
  }
})

it('threat 111: redact and moderation see the texts of a request in whatever field they are', async () => {
  const texts = ({ tool, schema }: { tool: string; schema: string }) =>
    says('Hi', {
      tools: [{ type: 'function', function: { name: 't', description: tool, parameters: { type: 'object' } } }],
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object', title: schema } } },
    })
  const guard = moderation(async (texts) => texts.some((text) => text.includes('harmful')))
  const { chat, upstream } = await echoing(guard)
  const unbroken = says(`harmful-${'a'.repeat(1_000)}`)
  const file = { file: { filename: 'a.txt', file_data: 'data:text/plain,a%20harmful%20text' } }
  const attached = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: [{ type: 'file', ...file }] }] }
  const parts = ['harm', 'ful'].map((text) => ({ type: 'text', text }))
  const split = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: parts }] }
  for (const one of [
    texts({ tool: 'harmful', schema: '' }),
    texts({ tool: '', schema: 'harmful' }),
    unbroken,
    attached,
    split,
  ])
    expect(await errorOf(await chat(one))).toMatchObject({ code: 'content_filter' })
  expect([(await chat(texts({ tool: 'A', schema: 'B' }))).status, upstream.requests.length]).toEqual([200, 1])

  const { chat: ask, sent } = await echoing(redact)
  const fields = { ...texts({ tool: 'For ada@example.org', schema: '+49 30 901820-00' }), user: '0049 30 901820' }
  expect((await ask(fields)).status).toBe(200)
  expect(sent()).toMatchObject({ user: '0049 30 901820' })
  expect(JSON.stringify(sent())).toMatch(/For <PERSONAL_\d>.*"<PERSONAL_\d>"/)
})

/** Requests with a text where it is in the name or the value of a field that is none of the caller's texts. */
const tool = (parameters: object) => ({ tools: [{ type: 'function', function: { name: 'f', parameters } }] })
const elsewhere: [where: string, request: (text: string) => object][] = [
  ['the name of a property', (text) => tool({ type: 'object', properties: { [text]: {} } })],
  ['the format of a property', (text) => tool({ type: 'object', properties: { a: { format: text } } })],
  ['an id within a schema', (text) => tool({ type: 'object', properties: { a: { x_id: text } } })],
  ['data beside a schema', (text) => tool({ type: 'object', data: text })],
  ['the name of a message', (name) => ({ messages: [{ role: 'user', name, content: 'Hi' }] })],
  ['the id of a call', (id) => ({ messages: [{ role: 'tool', tool_call_id: id, content: 'x' }] })],
  [
    'data of a part',
    (text) => ({ messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', data: [text] }] }] }),
  ],
  [
    'the name of a schema',
    (name) => ({ response_format: { type: 'json_schema', json_schema: { name, schema: { type: 'object' } } } }),
  ],
]

it.each(elsewhere)('threat 111: redact and moderation refuse what is in %s', async (_, request) => {
  const guard = moderation(async (texts) => texts.some((text) => text.includes('harmful')))
  const given = (text: string) => ({ ...says('Hi'), ...request(text) })
  for (const [one, text] of [
    [guard, 'harmful'],
    [redact, 'ada@example.org'],
    [redact, '+49 30 901820-00'],
  ] as const) {
    const { chat, upstream } = await echoing(one)
    expect(await errorOf(await chat(given(text)))).toMatchObject({ code: 'content_filter' })
    expect(upstream.requests).toEqual([])
  }
})

it('redact and moderation take pictures, sound and ids with many digits as they are', async () => {
  const base64 = 'harmful1'.repeat(200)
  const guard = moderation(async (texts) => texts.some((text) => text.includes('harmful')))
  const { chat, sent } = await echoing(redact, guard)
  const id = '12345678-1234-4234-8234-123456789abc'
  const messages = [
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } },
        { type: 'image_url', image_url: { url: 'https://example.org/1234567890.png' } },
        { type: 'input_audio', input_audio: { data: base64, format: 'wav' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: id, content: 'x' },
  ]
  expect((await chat({ model: 'gpt-audio', messages })).status).toBe(200)
  expect(JSON.stringify(sent())).toContain(base64)
})

it('threat 105: redact takes linear time, however many data there are', () => {
  expectLinear((n) => {
    const content = Array.from({ length: n }, (_, i) => 100_000_000 + i).join(', ')
    const asked = { task: 'chat', request: { model: 'm', messages: [{ role: 'user', content }] } } as Asked
    return () => void redact.request!(asked)
  })
})

it('keep: has the prompts and answers of those who consent, and no others', async () => {
  const { items, driver } = mapDriver<Uint8Array>()
  const bucket = unstorageBlobs(driver)
  const { chat, sent } = await echoing(redact, keep(bucket))
  expect(await textOf(await chat(says('Hi')))).toContain('You said: Hi')
  expect(items.size).toBe(0)
  for (const fields of [{}, stream]) {
    const response = await chat(says('I am ada@example.org', { store: true, ...fields }))
    const text = await textOf(response)
    expect([text.includes('ada@example.org'), Object.hasOwn(sent()!, 'store')]).toEqual([true, false])
    const path = `${OWNER}/${response.headers.get('x-request-id')}.json`
    await expect.poll(() => bucket.get(path)).not.toBeNull()
    let kept = ''
    for await (const piece of (await bucket.get(path))!.body) kept += new TextDecoder().decode(piece)
    expect(JSON.parse(kept)).toMatchObject({
      request: { messages: [{ content: 'I am <PERSONAL_0>' }] },
      answer: {
        choices: [{ message: { content: text.replace('ada@example.org', '<PERSONAL_0>') }, finish_reason: 'stop' }],
      },
    })
  }
})

it('cache: answers what a user has asked before, for nothing', async () => {
  const guard = cache({ size: 2 })
  const { chat, upstream, records, send } = await echoing(redact, guard)
  const by = async (fields: object) => {
    const response = await chat(fields)
    return [response.headers.get('x-gateway-answered-by'), (await textOf(response)).replace(/^.*You said: /, '')]
  }
  expect(await by(says('I am ada@example.org', stream))).toEqual([null, 'I am ada@example.org'])
  expect(await by(says('I am ada@example.org'))).toEqual(['cache', 'I am ada@example.org'])
  // What one end user asked, another does not learn, however they are named.
  const named = await testGateway({ guards: [cache()], endUserHeader: 'x-end-user' })
  const headers = (user: string) => ({ headers: { 'x-end-user': user } })
  for (const [user, answered] of [
    ['A', null],
    ['B', null],
    ['A', 'cache'],
  ] as const)
    expect((await named.chat(says('Hi'), headers(user))).headers.get('x-gateway-answered-by')).toBe(answered)
  // The names of personal data are the same, and the data those of the request.
  expect(await by(says('I am bob@example.org', stream))).toEqual(['cache', 'I am bob@example.org'])
  expect(await by(says('I am bob@example.org', { temperature: 1 }))).toEqual([null, 'I am bob@example.org'])
  expect([upstream.requests.length, (await records()).length]).toEqual([2, 2])
  const embed = () => send('POST', '/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hi' })
  const [first, second] = [await embed(), await embed()]
  expect(second.headers.get('x-gateway-answered-by')).toBe('cache')
  expect(await second.json()).toEqual(await first.json())
  // The oldest had to go.
  expect(await by(says('I am ada@example.org'))).toEqual([null, 'I am ada@example.org'])
  // Neither many nor large answers fill the memory.
  const small = await echoing(cache({ characters: 200_000 }))
  const answeredBy = async (content: string) => (await small.chat(says(content))).headers.get('x-gateway-answered-by')
  const texts = Array.from({ length: 400 }, (_, i) => `${i} ${'x'.repeat(400)}`)
  for (const content of [...texts, 'y'.repeat(3_000)]) expect(await answeredBy(content)).toBeNull()
  expect(await answeredBy(texts.at(-1)!)).toBe('cache')
  expect(await answeredBy(texts[0]!)).toBeNull()
  expect(await answeredBy('y'.repeat(3_000))).toBeNull()
  const soon = await withKey({}, { guards: [cache({ ms: 0 })] })
  for (let i = 0; i < 2; i++) await soon.ask()
  expect(soon.upstream.requests).toHaveLength(2)
})

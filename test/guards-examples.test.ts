import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Guard } from '@turnpike/gateway'
import { unstorageBlobs } from '@turnpike/storage'
import { expect, it } from 'vitest'
import { cache } from '../examples/guards/cache.js'
import { keep } from '../examples/guards/keep.js'
import { byOpenai, moderation } from '../examples/guards/moderation.js'
import { redact } from '../examples/guards/redact.js'
import { errorOf, OWNER, testGateway, withKey } from './support/gateway.js'
import { mapDriver } from './support/map-driver.js'
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
  const data = ['ada@example.org', '4111 1111 1111 1111', 'DE02 1203 0000 0000 2020 51', '+49 30 901820-00']
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
      Array.from({ length: 2 }, () => [['Hi'], [expect.stringContaining('You said: Hi')]]).flat(),
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
  for (const one of [texts({ tool: 'harmful', schema: '' }), texts({ tool: '', schema: 'harmful' })])
    expect(await errorOf(await chat(one))).toMatchObject({ code: 'content_filter' })
  expect([(await chat(texts({ tool: 'A', schema: 'B' }))).status, upstream.requests.length]).toEqual([200, 1])

  const { chat: ask, sent } = await echoing(redact)
  const fields = { ...texts({ tool: 'For ada@example.org', schema: '+49 30 901820-00' }), user: '0049 30 901820' }
  expect((await ask(fields)).status).toBe(200)
  expect(sent()).toMatchObject({ user: '0049 30 901820' })
  expect(JSON.stringify(sent())).toMatch(/For <PERSONAL_\d>.*"<PERSONAL_\d>"/)
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
  const soon = await withKey({}, { guards: [cache({ ms: 0 })] })
  for (let i = 0; i < 2; i++) await soon.ask()
  expect(soon.upstream.requests).toHaveLength(2)
})

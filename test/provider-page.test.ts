import type { ChatChunk, ChatCompletionRequest, Note, ChatProvider } from '@turnpike/core'
import type { Transport, TransportRequest } from '@turnpike/providers'
import { createRouter, toChunks } from '@turnpike/providers'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = readFileSync(join(root, 'docs/providers.md'), 'utf8')
const code = /^## Write your own provider\n[^]*?^```ts\n([^]*?)^```/m.exec(page)![1]!
const folder = join(root, 'test', '.provider-page')
const utf8 = new TextEncoder()

let acme: (apiKey: string, baseURL: string, transport: Transport) => ChatProvider

beforeAll(async () => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'acme.ts'), code)
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../tsconfig.base.json', include: ['*.ts'] }),
  )
  acme = ((await import(join(folder, 'acme.ts'))) as { acme: typeof acme }).acme
})

afterAll(() => rmSync(folder, { recursive: true }))

const request: ChatCompletionRequest = { model: 'acme-1', messages: [{ role: 'user', content: 'Hi' }] }

/** Acme with an upstream that gives one answer, and what becomes of a request. */
function setUp(body: string, { status = 200, headers = {} as Record<string, string> } = {}) {
  const sent: TransportRequest[] = []
  const notes: Note[] = []
  const transport: Transport = async (call) => {
    sent.push(call)
    return {
      status,
      header: (name) => headers[name],
      body: (async function* () {
        for (const piece of body.match(/[^]{1,7}/g) ?? []) yield utf8.encode(piece)
      })(),
    }
  }
  const provider = acme('k-1', 'https://acme.test', transport)
  const call = { signal: new AbortController().signal, onNotes: (all: Note[]) => void notes.push(...all) }
  const complete = (fields = {}) => provider.chat.complete({ ...request, ...fields }, call)
  const chunks: ChatChunk[] = []
  const stream = async (): Promise<void> => {
    for await (const chunk of toChunks(await provider.chat.stream({ ...request, stream: true }, call)))
      chunks.push(chunk)
  }
  return { provider, sent, notes, complete, chunks, stream }
}

const events = (...all: object[]): string => all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const failure = (fields: object) => ({ name: 'UpstreamError', failure: { provider: 'acme', ...fields } })

describe('the provider of docs/providers.md', () => {
  it('has fewer than 100 lines', () => {
    expect(code.trimEnd().split('\n').length).toBeLessThan(100)
  })

  it('type-checks', () => {
    try {
      execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], {
        encoding: 'utf8',
      })
    } catch (error) {
      throw new Error((error as { stdout?: string }).stdout ?? String(error), { cause: error })
    }
  })

  it('sends requests in its own form', async () => {
    const { complete, sent, notes } = setUp('{"ref":"r1","text":"Hello","ended":"stop"}')
    await complete({
      system: 'Be brief.',
      messages: [
        { role: 'developer', content: 'Be kind.' },
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        { role: 'assistant', content: 'Yes?' },
        { role: 'user', content: 'Bye' },
      ],
      max_tokens: 9,
      seed: 7,
      stop: null,
    })
    expect(sent).toMatchObject([
      {
        url: 'https://acme.test/v2/generate',
        method: 'POST',
        headers: { 'acme-key': 'k-1', 'content-type': 'application/json', accept: 'application/json' },
      },
    ])
    expect(JSON.parse(sent[0]!.body as string)).toEqual({
      engine: 'acme-1',
      turns: [
        { by: 'guide', text: 'Be brief.' },
        { by: 'guide', text: 'Be kind.' },
        { by: 'user', text: 'Hi' },
        { by: 'model', text: 'Yes?' },
        { by: 'user', text: 'Bye' },
      ],
      length: 9,
      live: false,
    })
    expect(notes).toEqual([{ field: 'seed', action: 'dropped' }])
  })

  it.each([
    ['tools', { tools: [{ type: 'function', function: { name: 'f' } }] }],
    ['parts of the type image_url', { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }],
    ['messages of the role tool', { messages: [{ role: 'tool', tool_call_id: 'c', content: '42' }] }],
  ])('refuses %s before anything is sent', async (what, fields) => {
    const { complete, sent } = setUp('{}')
    await expect(complete(fields)).rejects.toMatchObject({ status: 400, message: `Acme takes no ${what}` })
    expect(sent).toEqual([])
  })

  it('returns a whole answer', async () => {
    const answer = { ref: 'r1', text: 'Hello', ended: 'length', tokens: { in: 3, out: 2 } }
    expect(await setUp(JSON.stringify(answer)).complete()).toEqual({
      id: 'r1',
      object: 'chat.completion',
      created: expect.any(Number) as number,
      model: 'acme-1',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', refusal: null },
          logprobs: null,
          finish_reason: 'length',
        },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    })
  })

  it('leaves n to the gateway', async () => {
    const { complete, sent } = setUp('{"text":"Hello","tokens":{"in":3,"out":2}}')
    await expect(complete({ n: 2 })).rejects.toMatchObject({ status: 400 })
    expect(sent).toEqual([])
  })

  it('streams', async () => {
    const all = events({ ref: 'r1' }, { text: 'Hel' }, { text: 'lo' }, { ended: 'stop', tokens: { in: 3, out: 2 } })
    const { stream, chunks, sent } = setUp(all, { headers: { 'content-type': 'text/event-stream' } })
    await stream()
    expect(JSON.parse(sent[0]!.body as string)).toMatchObject({ live: true })
    expect(chunks.map(({ choices }) => choices)).toEqual([
      [{ index: 0, delta: { role: 'assistant', content: 'Hel' }, finish_reason: null }],
      [{ index: 0, delta: { content: 'lo' }, finish_reason: null }],
      [{ index: 0, delta: {}, finish_reason: 'stop' }],
      [],
    ])
    for (const chunk of chunks) expect(chunk).toMatchObject({ id: 'r1', model: 'acme-1' })
    expect(chunks.at(-1)).toMatchObject({ usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } })
  })

  it.each([
    ['cut off', '', { kind: 'truncated' }],
    ['that is no JSON', 'data: {"text"\n\n', { kind: 'malformed' }],
    [
      'that fails',
      events({ fault: { status: 503, kind: 'busy', text: 'Try later' } }),
      { kind: 'status', status: 503, code: 'busy', accepted: true },
    ],
  ])('ends a stream %s with an error', async (_, rest, fields) => {
    const { stream, chunks } = setUp(events({ ref: 'r1' }, { text: 'Hel' }) + rest)
    await expect(stream()).rejects.toMatchObject(failure(fields))
    expect(chunks).toMatchObject([{ choices: [{ delta: { content: 'Hel' } }] }])
  })

  it.each([
    [400, { caller: true, credential: false, retryAfter: undefined }],
    [401, { caller: false, credential: true, retryAfter: undefined }],
    [429, { caller: false, credential: false, retryAfter: 12 }],
  ])('maps an answer with status %i', async (status, meaning) => {
    const headers: Record<string, string> = status === 429 ? { 'retry-after': '12' } : {}
    const { complete } = setUp('{"fault":{"kind":"why","text":"Because"}}', { status, headers })
    await expect(complete()).rejects.toMatchObject({
      ...failure({ kind: 'status', status, code: 'why', accepted: false, ...meaning }),
      message: 'Because',
    })
  })

  it('refuses an answer without text', async () => {
    await expect(setUp('{}').complete()).rejects.toMatchObject(failure({ kind: 'malformed' }))
  })

  it('can be used in the router', async () => {
    const { provider } = setUp('')
    const router = createRouter({ providers: [provider] })
    for (const model of ['acme-1', 'acme-2', 'acme/acme-1'])
      expect(await router.candidates({ task: 'chat', request: { model }, expected: () => ({}) })).toMatchObject({
        targets: [{ provider: { id: 'acme' } }],
      })
  })
})

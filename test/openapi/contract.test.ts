import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { ApiDocument } from '../support/contract.js'
import { contractOf, documentFile } from '../support/contract.js'

/** The document, with changes. */
const changed = (change: (document: ApiDocument) => void = () => undefined): ReturnType<typeof contractOf> => {
  const document = JSON.parse(readFileSync(documentFile, 'utf8')) as ApiDocument
  change(document)
  return contractOf(document)
}

const headers: Record<string, string> = {
  'x-request-id': '01900000-0000-7000-8000-000000000001',
  'content-type': 'application/json; charset=utf-8',
}
const error = { error: { type: 'rate_limit_error', message: 'Slowly', code: 'rate_limit_exceeded' } }
const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}
const chunk = { ...completion, object: 'chat.completion.chunk', choices: [] }
const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`
const stream = { 'content-type': 'text/event-stream; charset=utf-8' }

/** What is wrong with an answer to a chat request, or another one. */
function wrongs(
  body: unknown,
  answer: { status?: number; method?: string; path?: string; headers?: object } = {},
  contract = changed(),
): string[] {
  const all: Record<string, string | undefined> = { ...headers, ...answer.headers }
  const { method = 'POST', path = '/v1/chat/completions', status = 200 } = answer
  const { wrong, body: check } = contract({ method, path, status, header: (name) => all[name.toLowerCase()] })
  return [...wrong, ...check(typeof body === 'string' ? body : JSON.stringify(body), true)]
}

// Every test with an answer of a gateway is held against the document: see test/support/contract-hooks.ts.
describe('the check of answers', () => {
  it('lets pass what the document describes', () => {
    expect(wrongs(completion)).toEqual([])
    expect(wrongs(event(chunk) + event(error), { headers: stream })).toEqual([])
    expect(wrongs(`${event(chunk)}: ping\n\ndata: [DONE]\n\n`, { headers: stream })).toEqual([])
    expect(wrongs(error, { status: 429, headers: { 'retry-after': '1' } })).toEqual([])
    expect(wrongs(error, { path: '/v1/nothing', status: 404 })).toEqual([])
    expect(wrongs(error, { method: 'GET', status: 405 })).toEqual([])
  })

  it.each<[string, string[]]>([
    ['a status', wrongs(error, { status: 404 })],
    ['a path', wrongs(completion, { path: '/v1/nothing' })],
    ['a method', wrongs(completion, { method: 'PUT' })],
    ['a content type', wrongs('Hi', { headers: { 'content-type': 'text/html' } })],
    ['a body without content type', wrongs(completion, { headers: { 'content-type': undefined } })],
    ['an answer without X-Request-ID', wrongs(completion, { headers: { 'x-request-id': undefined } })],
    ['a 429 without Retry-After', wrongs(error, { status: 429 })],
    ['a body that lacks a field', wrongs({ ...completion, usage: undefined })],
    ['an error body with a field more', wrongs({ error: { ...error.error, cause: 'secret' } }, { status: 500 })],
    ['a chunk', wrongs(event({ ...chunk, choices: [{ index: 0 }] }), { headers: stream })],
    ['an error event', wrongs(event({ error: { message: 'x' } }), { headers: stream })],
  ])('finds %s that it does not describe', (_, wrong) => {
    expect(wrong.length).toBeGreaterThan(0)
  })

  it('finds each difference when the document changes', () => {
    const without = changed(({ paths }) => delete paths['/v1/chat/completions']!['post']!.responses['200'])
    expect(wrongs(completion, {}, without)).toEqual([
      'POST /v1/chat/completions: chat.completions documents no status 200',
    ])
    const more = changed(({ components: { schemas } }) => {
      ;(schemas['ChatCompletionResponse'] as unknown as { required: string[] }).required.push('more')
    })
    expect(wrongs(completion, {}, more)).toEqual([
      'POST /v1/chat/completions: the body must have required property \'more\' {"missingProperty":"more"}',
    ])
  })
})

import { google } from '@turnpike/providers'
import type { Transport, TransportRequest } from '@turnpike/providers'
import { describe, expect, it } from 'vitest'
import { rejection } from '../support/failure.js'
import { answering, collect, complete } from './client.js'

// What the adapter of Gemini does only together with a transport.

const model = 'gemini-3.1-pro-preview'
const utf8 = new TextEncoder()
const event = (text: string) =>
  JSON.stringify({ candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }] })

/** Streams `text`, cut at every `size` bytes. */
function stream(text: string, size = Infinity) {
  const bytes = utf8.encode(text)
  const ends = [...Array.from({ length: Math.ceil(bytes.length / size) - 1 }, (_, at) => (at + 1) * size), bytes.length]
  const pieces = ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end))
  return collect(google({ apiKey: 'x', transport: answering(pieces) }), model)
}

describe('the provider of Gemini', () => {
  it('sends its key in a header and nowhere else', async () => {
    const seen: TransportRequest[] = []
    const answer = answering([utf8.encode(event('a'))], 'application/json')
    const transport: Transport = (request) => {
      seen.push(request)
      return answer(request)
    }
    await complete(google({ apiKey: 'secret', baseURL: 'https://proxy.test/v1beta/', transport }), model)
    expect(seen).toHaveLength(1)
    const { url, headers, body } = seen[0]!
    expect(url).toBe('https://proxy.test/v1beta/models/gemini-3.1-pro-preview:generateContent')
    expect(headers).toMatchObject({ 'x-goog-api-key': 'secret' })
    expect(body).not.toContain('secret')
  })

  it('has its catalogue', async () => {
    const provider = google({ apiKey: 'x' })
    expect(provider.id).toBe('google')
    expect(provider.owns!('gemini-9')).toBe(true)
    expect(await provider.models(new AbortController())).toHaveLength(15)
  })

  it.each([undefined, 1, 5])('detects a bare error after everything else, split at every %s bytes', async (size) => {
    const error = { error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }
    for (const tail of [
      JSON.stringify(error),
      JSON.stringify(error, null, 2),
      JSON.stringify(error, null, 2).replaceAll('\n', '\r\n'),
    ]) {
      const { chunks, error: late } = await stream(`data: ${event('a')}\r\n\r\n${tail}`, size)
      expect(late).toMatchObject({ message: 'Overloaded', failure: { kind: 'status', status: 503 } })
      expect(chunks.filter(({ choices }) => choices[0]?.finish_reason)).toEqual([])
      expect((await stream(tail, size)).error).toMatchObject({ failure: { status: 503, accepted: false } })
    }
  })

  it('refuses an empty body', async () => {
    expect((await stream('')).error).toMatchObject({ failure: { kind: 'truncated' } })
  })

  it('accepts a last event without its blank line', async () => {
    const { chunks, error } = await stream(`data: ${event('ä€😀')}`, 1)
    expect(error).toBeUndefined()
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('ä€😀')
    expect(chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual(['stop'])
  })

  it('reads an error with any content type', async () => {
    const error = utf8.encode('{"error":{"code":404,"message":"No such model","status":"NOT_FOUND"}}')
    const provider = google({ apiKey: 'x', transport: answering([error], 'text/event-stream', 404) })
    const expected = { message: 'No such model', failure: { status: 404, caller: true } }
    expect((await collect(provider, model)).error).toMatchObject(expected)
    expect(await rejection(complete(provider, model))).toMatchObject(expected)
  })
})

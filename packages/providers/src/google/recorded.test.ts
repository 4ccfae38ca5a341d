import { existsSync, readFileSync } from 'node:fs'
import type { ChatChunk, ChatCompletionRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { toChunks } from '../provider.js'
import type { Transport, TransportRequest } from '../transport.js'
import { google } from './index.js'

/** Recorded traffic lies beside the repository, not in it (see its README). */
const folder = new URL('../../../../../shared/fixtures/google/', import.meta.url)
const missing = !existsSync(folder)
if (missing) console.log(`Skipped: the recorded upstream traffic is not at ${folder.pathname}`)

const utf8 = new TextEncoder()
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8')

/** Answers with `text`, cut into pieces of `size` bytes. */
const answering =
  (
    text: string,
    { size = Infinity, status = 200, type = 'text/event-stream', seen = [] as TransportRequest[] } = {},
  ): Transport =>
  async (request) => {
    seen.push(request)
    return {
      status,
      header: (name) => (name === 'content-type' ? type : undefined),
      body: (async function* () {
        const bytes = utf8.encode(text)
        if (size === Infinity) yield bytes
        else for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
      })(),
    }
  }

const request: ChatCompletionRequest = { model: 'gemini-3.1-pro-preview', messages: [{ role: 'user', content: 'Hi' }] }
const { signal } = new AbortController()

const complete = (text: string, status = 200) =>
  google({ apiKey: 'x', transport: answering(text, { status, type: 'application/json' }) }).chat!.complete(request, {
    signal,
  })

/** The chunks of a body whose bytes arrive `size` at a time, but for the time of their making. */
async function stream(text: string, size?: number): Promise<ChatChunk[]> {
  const provider = google({ apiKey: 'x', transport: answering(text, { ...(size && { size }) }) })
  const chunks: ChatChunk[] = []
  for await (const chunk of toChunks(await provider.chat!.stream({ ...request, stream: true }, { signal })))
    chunks.push({ ...chunk, created: 0 })
  return chunks
}

/** Events as Gemini frames them. */
const framed = (lines: string[]): string => lines.map((line) => `data: ${line}\r\n\r\n`).join('')
const recorded = (name: string): string => framed(read(name).trim().split('\n'))

const textOf = (chunks: ChatChunk[]): string =>
  chunks.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('')
const finishesOf = (chunks: ChatChunk[]) => chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])

describe('the provider', () => {
  const event = (text: string, finishReason?: string) =>
    JSON.stringify({ candidates: [{ content: { parts: [{ text }] }, finishReason }] })

  it('sends its key in a header', async () => {
    const seen: TransportRequest[] = []
    const transport = answering(event('a', 'STOP'), { type: 'application/json', seen })
    await google({ apiKey: 'secret', baseURL: 'https://proxy.test/v1beta/', transport }).chat!.complete(request, {
      signal,
    })
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatchObject({
      url: 'https://proxy.test/v1beta/models/gemini-3.1-pro-preview:generateContent',
      headers: { 'x-goog-api-key': 'secret' },
    })
  })

  it('has its catalogue', async () => {
    const provider = google({ apiKey: 'x' })
    expect(provider.id).toBe('google')
    expect(provider.owns!('gemini-9')).toBe(true)
    expect(await provider.models({ signal })).toHaveLength(7)
  })

  it.each([undefined, 1, 5])('finds a bare error after everything else, cut at every %s bytes', async (size) => {
    const error = { error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }
    for (const tail of [
      JSON.stringify(error),
      JSON.stringify(error, null, 2),
      JSON.stringify(error, null, 2).replaceAll('\n', '\r\n'),
    ]) {
      const expected = { message: 'Overloaded', failure: { kind: 'status', status: 503 } }
      await expect(stream(framed([event('a', 'STOP')]) + tail, size)).rejects.toMatchObject(expected)
      await expect(stream(tail, size)).rejects.toMatchObject({ failure: { status: 503, accepted: false } })
    }
  })

  it('refuses an empty body', async () => {
    await expect(stream('')).rejects.toMatchObject({ failure: { kind: 'truncated' } })
  })

  it('takes a last event without its blank line', async () => {
    expect(finishesOf(await stream(framed([event('ä€😀', 'STOP')]).trim(), 1))).toEqual(['stop'])
  })

  it('reads an error whatever its type says it is', async () => {
    const text = '{"error":{"code":404,"message":"No such model","status":"NOT_FOUND"}}'
    const provider = google({ apiKey: 'x', transport: answering(text, { status: 404 }) })
    await expect(provider.chat!.stream({ ...request, stream: true }, { signal })).rejects.toMatchObject({
      message: 'No such model',
      failure: { status: 404, caller: true },
    })
  })
})

describe.skipIf(missing)('recorded traffic of Gemini', () => {
  it.each([
    ['google-text', 9, 272, 244],
    ['google-reasoning', 9, 311, 282],
    ['google-reasoning-gemini3', 9, 287, 258],
  ])('%s answers whole', async (name, prompt, completion, reasoning) => {
    const { choices, usage } = await complete(read(`${name}.json`))
    expect(choices).toHaveLength(1)
    expect(choices[0]).toMatchObject({
      message: { content: expect.stringMatching(/^There are \*\*3\*\*.*strawberry/) as string },
      finish_reason: 'stop',
    })
    expect(usage).toMatchObject({
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      completion_tokens_details: { reasoning_tokens: reasoning },
    })
  })

  it('google-tool-call answers whole', async () => {
    const { choices, usage } = await complete(read('google-tool-call.json'))
    expect(choices[0]).toMatchObject({
      message: {
        content: null,
        tool_calls: [
          {
            id: expect.stringMatching(/^call_\w{24}$/) as string,
            function: { name: 'weather', arguments: '{"location":"San Francisco"}' },
            extra_content: { google: { thought_signature: expect.stringMatching(/^EskgCsYg/) as string } },
          },
        ],
      },
      finish_reason: 'tool_calls',
    })
    expect(usage).toMatchObject({ prompt_tokens: 29, completion_tokens: 908, total_tokens: 937 })
  })

  it.each([
    ['google-text', 'There are **3** "r"s in strawberry.\n\nst**r**awbe**rr**y', 217],
    ['google-reasoning', 'There are **3** "r"s in strawberry.\n\nHere is the breakdown: st**r**awbe**rr**y.', 294],
    ['google-reasoning-gemini3', 'There are **3** "r"s in strawberry.\n\nSt**r**awbe**rr**y', 334],
  ])('%s streams, however it is cut', async (name, text, total) => {
    const whole = await stream(recorded(`${name}.chunks.txt`))
    expect(textOf(whole)).toBe(text)
    expect(finishesOf(whole)).toEqual(['stop'])
    expect(whole.at(-1)!.usage).toMatchObject({ total_tokens: total })
    for (const size of [1, 7, 1_000]) expect(await stream(recorded(`${name}.chunks.txt`), size)).toEqual(whole)
  })

  it.each([undefined, 7, 1_000])('google-tool-call streams, cut at every %s bytes', async (size) => {
    const chunks = await stream(recorded('google-tool-call.chunks.txt'), size)
    const entries = chunks.flatMap(({ choices: [choice] }) => choice?.delta.tool_calls ?? [])
    expect(entries.every(({ index }) => index === 0)).toBe(true)
    expect(entries.flatMap(({ id }) => id ?? [])).toHaveLength(1)
    expect(entries.map((entry) => entry.function?.arguments ?? '').join('')).toBe('{"location":"San Francisco"}')
    expect(entries.flatMap(({ extra_content }) => extra_content ?? [])).toEqual([
      { google: { thought_signature: expect.stringMatching(/^EqUCCqIC/) as string } },
    ])
    expect(finishesOf(chunks)).toEqual(['tool_calls'])
    expect(chunks.at(-1)!.usage).toMatchObject({ prompt_tokens: 29, completion_tokens: 60, total_tokens: 89 })
  })

  it('google-429-retry-info asks to wait', async () => {
    await expect(complete(read('google-429-retry-info.json'), 429)).rejects.toMatchObject({
      message: 'You exceeded your current quota, please check your plan.',
      failure: { status: 429, retryAfter: 35, caller: false, credential: false },
    })
  })
})

import type { ChatChunk, ChatProvider } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import type { Transport } from '@turnpike/providers'
import { anthropic, google, openai, toChunks } from '@turnpike/providers'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkChunk } from '../support/decode.js'
import { claude, gemini, gpt } from './arbitrary-streams.js'
import { parameters } from './parameters.js'

const utf8 = new TextEncoder()
const { signal } = new AbortController()

/** Classes of tokens, which are parts of the counts. */
interface Details {
  prompt_tokens_details?: { cached_tokens?: number; cache_write_tokens?: number }
  completion_tokens_details?: { reasoning_tokens?: number }
}

interface Family {
  name: string
  make: (transport: Transport) => ChatProvider
  events: fc.Arbitrary<object[]>
  /** Kinds of streams that the events make. */
  kinds: string[]
}

const common = ['whole', 'failed', 'failed after chunks', 'whole with a tool call', 'whole with usage']
const families: Family[] = [
  {
    name: 'OpenAI',
    make: (transport) => openai({ apiKey: 'x', transport }),
    events: gpt,
    kinds: [...common, 'whole with choices'],
  },
  { name: 'Claude', make: (transport) => anthropic({ apiKey: 'x', transport }), events: claude, kinds: common },
  {
    name: 'Gemini',
    make: (transport) => google({ apiKey: 'x', transport }),
    events: gemini,
    kinds: [...common, 'whole with choices'],
  },
]

/** A body that is cut at any places. */
const cut = (bytes: Uint8Array, places: number[]): Uint8Array[] => {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].toSorted((a, b) => a - b)
  return [0, ...at].map((from, i) => bytes.subarray(from, at[i] ?? bytes.length))
}

/** All chunks, and the error at the end if there is one. */
async function read(provider: ChatProvider): Promise<{ chunks: ChatChunk[]; error?: unknown }> {
  const chunks: ChatChunk[] = []
  try {
    const request = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }], stream: true }
    for await (const chunk of toChunks(await provider.chat.stream(request, { signal }))) chunks.push(chunk)
  } catch (error) {
    return { chunks, error }
  }
  return { chunks }
}

describe.each(families)('any stream of $name', ({ make, events, kinds }) => {
  it('has one end, for any split', async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(
        events,
        fc.array(fc.nat(), { maxLength: 6 }),
        fc.constantFrom('\n\n', '\r\n\r\n'),
        async (given, places, end) => {
          const bytes = utf8.encode(given.map((event) => `data: ${JSON.stringify(event)}${end}`).join(''))
          const body =
            (pieces: Uint8Array[]): Transport =>
            async () => ({
              status: 200,
              header: () => undefined,
              body: (async function* () {
                yield* pieces
              })(),
            })
          const { chunks, error } = await read(make(body([bytes])))
          const pieces = await read(make(body(cut(bytes, places))))
          const known = (all: ChatChunk[]) =>
            JSON.stringify(all).replaceAll(/call_\w{24}|chatcmpl-\w{24}|"created":\d+/g, '')
          expect(known(pieces.chunks)).toBe(known(chunks))
          expect(pieces.error === undefined).toBe(error === undefined)

          for (const chunk of chunks) checkChunk(JSON.parse(JSON.stringify(chunk)) as object)
          const finished = new Map<number, string>()
          const calls = new Map<string, string>()
          for (const { choices } of chunks)
            for (const choice of choices) {
              expect(finished.has(choice.index)).toBe(false)
              if (choice.finish_reason) finished.set(choice.index, choice.finish_reason)
              for (const { index: at, function: call } of choice.delta.tool_calls ?? [])
                calls.set(`${choice.index} ${at}`, (calls.get(`${choice.index} ${at}`) ?? '') + (call?.arguments ?? ''))
            }
          if (error !== undefined) {
            expect(UpstreamError.is(error)).toBe(true)
            seen.add(chunks.length > 0 ? 'failed after chunks' : 'failed')
            return
          }
          const indices = new Set(chunks.flatMap(({ choices }) => choices.map((choice) => choice.index)))
          expect(finished.size).toBe(indices.size)
          seen.add('whole')
          if (indices.size > 1) seen.add('whole with choices')
          for (const [call, args] of calls)
            if (finished.get(Number(call.split(' ')[0])) === 'tool_calls') {
              seen.add('whole with a tool call')
              expect(() => void JSON.parse(args)).not.toThrow()
            }
          const usage = chunks.at(-1)!.usage
          if (!usage) return
          seen.add('whole with usage')
          expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens)
          const { prompt_tokens_details: prompt, completion_tokens_details: completion } = usage as Details
          const cached = (prompt?.cached_tokens ?? 0) + (prompt?.cache_write_tokens ?? 0)
          expect(cached).toBeLessThanOrEqual(usage.prompt_tokens)
          expect(completion?.reasoning_tokens ?? 0).toBeLessThanOrEqual(usage.completion_tokens)
        },
      ),
      parameters,
    )
    expect(kinds.filter((kind) => !seen.has(kind))).toEqual([])
  }, 600_000)
})

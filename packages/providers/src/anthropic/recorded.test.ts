import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { ChatChunk, ChatCompletionRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { checkCompletion } from '../../../../test/support/decode.js'
import { toChunks } from '../provider.js'
import type { Transport } from '../transport.js'
import { anthropic } from './index.js'

/** Recorded traffic lies beside the repository, not in it (see its README). */
const folder = new URL('../../../../../shared/fixtures/anthropic/', import.meta.url)
const missing = !existsSync(folder)
if (missing) console.log(`Skipped: the recorded upstream traffic is not at ${folder.pathname}`)
const files = missing ? [] : readdirSync(folder)
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8')

const utf8 = new TextEncoder()

/** Answers with pieces of bytes. */
const recorded =
  (pieces: Uint8Array[], type: string): Transport =>
  async () => ({
    status: 200,
    header: (name) => (name === 'content-type' ? type : undefined),
    body: (async function* () {
      yield* pieces
    })(),
  })

const request: ChatCompletionRequest = { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'Hi' }] }
const { signal } = new AbortController()

/** A recording as it came over the wire. */
const wire = (name: string): Uint8Array =>
  utf8.encode(
    read(name)
      .trim()
      .split('\n')
      .map((line) => `event: ${(JSON.parse(line) as { type: string }).type}\ndata: ${line}\n\n`)
      .join(''),
  )

async function stream(...pieces: Uint8Array[]): Promise<ChatChunk[]> {
  const provider = anthropic({ apiKey: 'x', transport: recorded(pieces, 'text/event-stream') })
  const chunks: ChatChunk[] = []
  for await (const chunk of toChunks(await provider.chat!.stream({ ...request, stream: true }, { signal })))
    chunks.push({ ...chunk, created: 0 })
  return chunks
}

/** What a client that joins the chunks has in the end. */
function join(chunks: ChatChunk[]) {
  const choices = chunks.flatMap((chunk) => chunk.choices)
  const calls: { name: string | undefined; arguments: unknown }[] = []
  const texts: string[] = []
  for (const { delta } of choices)
    for (const { index, function: call } of delta.tool_calls ?? []) {
      calls[index] ??= { name: call?.name, arguments: '' }
      texts[index] = (texts[index] ?? '') + (call?.arguments ?? '')
    }
  return {
    content: choices.map(({ delta }) => delta.content ?? '').join(''),
    reasoning: choices.map(({ delta }) => (delta['reasoning_content'] as string | undefined) ?? '').join(''),
    calls: calls.map((call, index) => ({ ...call, arguments: JSON.parse(texts[index]!) as unknown })),
    finishes: choices.flatMap(({ finish_reason }) => finish_reason ?? []),
  }
}

describe.skipIf(missing)('recorded traffic of Claude', () => {
  it.each(files.filter((name) => name.endsWith('.json')))('%s is a whole answer', async (name) => {
    const provider = anthropic({ apiKey: 'x', transport: recorded([utf8.encode(read(name))], 'application/json') })
    const answer = await provider.chat!.complete(request, { signal })
    checkCompletion(answer)
    const { content, usage } = JSON.parse(read(name)) as {
      content: { type: string; text?: string; name?: string; input?: object }[]
      usage: Record<string, number>
    }
    const [{ message }] = answer.choices as [(typeof answer.choices)[0]]
    expect(message.content ?? '').toBe(content.flatMap(({ type, text }) => (type === 'text' ? text : [])).join(''))
    expect((message.tool_calls ?? []).length).toBe(content.filter(({ type }) => type === 'tool_use').length)
    expect(answer.usage!.completion_tokens).toBe(usage['output_tokens'])
    expect(answer.usage!.prompt_tokens).toBe(
      usage['input_tokens']! + (usage['cache_read_input_tokens'] ?? 0) + (usage['cache_creation_input_tokens'] ?? 0),
    )
  })

  const streams = files.filter((name) => name.endsWith('.chunks.txt'))

  it.each(streams)('%s is a whole stream, joined from its own deltas', async (name) => {
    const events = read(name)
      .trim()
      .split('\n')
      .map(
        (line) =>
          JSON.parse(line) as {
            type: string
            index: number
            delta?: Record<string, string>
            content_block?: { type: string }
          },
      )
    const kinds = new Map(
      events.flatMap(({ index, content_block }) => (content_block ? [[index, content_block.type]] : [])),
    )
    const of = (type: string, field: string, kind: string): string =>
      events
        .map(({ index, delta }) => (delta?.['type'] === type && kinds.get(index) === kind ? delta[field] : ''))
        .join('')
    const { content, reasoning, calls, finishes } = join(await stream(wire(name)))
    expect(content).toBe(of('text_delta', 'text', 'text'))
    expect(reasoning).toBe(of('thinking_delta', 'thinking', 'thinking'))
    expect(calls).toHaveLength([...kinds.values()].filter((kind) => kind === 'tool_use').length)
    const args = of('input_json_delta', 'partial_json', 'tool_use')
    if (calls.length === 1) expect(calls[0]!.arguments).toEqual(args === '' ? {} : JSON.parse(args))
    expect(finishes).toHaveLength(1)
  })

  it.each(streams)(
    '%s is the same however it is cut',
    async (name) => {
      const bytes = wire(name)
      const whole = JSON.stringify(await stream(bytes))
      expect(JSON.stringify(await stream(...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))))).toBe(whole)
      const borders = [...new TextDecoder('latin1').decode(bytes).matchAll(/\n\n/g)].map(({ index }) => index)
      const cuts =
        bytes.length <= 12_288
          ? Array.from(bytes, (_, at) => at)
          : borders.flatMap((border) => Array.from({ length: 129 }, (_, at) => border - 64 + at))
      let others = 0
      for (const cut of cuts)
        if (JSON.stringify(await stream(bytes.subarray(0, cut), bytes.subarray(cut))) !== whole) others++
      expect(others).toBe(0)
    },
    120_000,
  )
})

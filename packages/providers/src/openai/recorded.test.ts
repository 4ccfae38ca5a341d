import { existsSync, readFileSync } from 'node:fs'
import type { ChatChunk, ChatCompletionRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Transport } from '../transport.js'
import { toChunks } from '../provider.js'
import { openai } from './index.js'

/** Recorded traffic lies beside the repository, not in it (see its README). */
const folder = new URL('../../../../../shared/fixtures/', import.meta.url)
const missing = !existsSync(folder)
if (missing) console.log(`Skipped: the recorded upstream traffic is not at ${folder.pathname}`)

const utf8 = new TextEncoder()
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8')

/** Answers with `text`, cut into pieces of `size` bytes. */
const recorded =
  (text: string, type: string, size = Infinity, status = 200): Transport =>
  async () => ({
    status,
    header: (name) => (name === 'content-type' ? type : undefined),
    body: (async function* () {
      const bytes = utf8.encode(text)
      if (size === Infinity) yield bytes
      else for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
    })(),
  })

const request: ChatCompletionRequest = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }
const { signal } = new AbortController()

async function complete(name: string) {
  const provider = openai({ apiKey: 'x', transport: recorded(read(name), 'application/json') })
  return provider.chat!.complete(request, { signal })
}

/** The chunks of a recorded stream whose bytes arrive `size` at a time. */
async function stream(name: string, size?: number): Promise<ChatChunk[]> {
  const events = read(name)
    .trim()
    .split('\n')
    .map((line) => `data: ${line}\n\n`)
  const text = `${events.join('')}data: [DONE]\n\n`
  const provider = openai({ apiKey: 'x', transport: recorded(text, 'text/event-stream', size) })
  const chunks: ChatChunk[] = []
  for await (const chunk of toChunks(await provider.chat!.stream({ ...request, stream: true }, { signal })))
    chunks.push(chunk)
  return chunks
}

/** What a client that joins the chunks of choice 0 has in the end. */
function join(chunks: ChatChunk[]) {
  const choices = chunks.flatMap((chunk) => chunk.choices)
  const calls: { id?: string | undefined; name?: string | undefined; arguments: string }[] = []
  for (const { delta } of choices)
    for (const { index, id, function: call } of delta.tool_calls ?? []) {
      calls[index] ??= { id, name: call?.name, arguments: '' }
      calls[index].arguments += call?.arguments ?? ''
    }
  return {
    heads: new Set(chunks.map(({ id, created, model }) => `${id} ${created} ${model}`)).size,
    roles: choices.filter(({ delta }) => delta.role).length,
    text: choices.map(({ delta }) => delta.content ?? '').join(''),
    reasoning: choices.map(({ delta }) => (delta['reasoning_content'] as string | undefined) ?? '').join(''),
    calls,
    finishes: choices.flatMap(({ finish_reason }) => finish_reason ?? []),
    usage: chunks.flatMap(({ usage }) => usage ?? []),
  }
}

/** What the recorded events themselves say, joined without our code. */
const textOf = (name: string, field: string): string =>
  read(name)
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as ChatChunk).choices[0]?.delta[field] ?? '')
    .join('')

describe.skipIf(missing)('recorded traffic of OpenAI', () => {
  const name = 'openai/openai-text.chunks.txt'

  it('answers whole', async () => {
    expect(await complete('openai/openai-text.json')).toEqual(JSON.parse(read('openai/openai-text.json')))
  })

  it.each([undefined, 7, 1_000])('streams, cut at every %s bytes', async (size) => {
    const { text, usage, ...rest } = join(await stream(name, size))
    expect(text).toBe(textOf(name, 'content'))
    expect(text).toHaveLength(1_724)
    expect(text.startsWith('**Holiday Name:')).toBe(true)
    expect(rest).toEqual({ heads: 1, roles: 1, reasoning: '', calls: [], finishes: ['stop'] })
    expect(usage).toMatchObject([{ prompt_tokens: 16, completion_tokens: 300, total_tokens: 316 }])
  })

  it('streams the same chunks however they are cut, without padding', async () => {
    const whole = await stream(name)
    expect(await stream(name, 7)).toEqual(whole)
    expect(JSON.stringify(whole)).not.toContain('obfuscation')
    expect(whole.at(-1)!.choices).toEqual([])
    expect(whole.slice(0, -1).every((chunk) => !('usage' in chunk))).toBe(true)
  })

  it('refuses max_tokens of a reasoning model', async () => {
    const text = read('openai/reasoning-model-legacy-parameter-error.json')
    const provider = openai({ apiKey: 'x', transport: recorded(text, 'application/json', Infinity, 400) })
    await expect(provider.chat!.complete(request, { signal })).rejects.toMatchObject({
      message:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      failure: { kind: 'status', status: 400, caller: true, accepted: false, code: 'unsupported_parameter' },
    })
  })
})

describe.skipIf(missing)('recorded traffic of xAI', () => {
  const name = 'openai-compatible/xai-tool-call.chunks.txt'

  it('answers whole', async () => {
    const { choices, usage } = await complete('openai-compatible/xai-tool-call.json')
    expect(choices).toHaveLength(1)
    expect(choices[0]).toMatchObject({
      index: 0,
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: null,
        reasoning_content: expect.stringMatching(/^First, the user is asking/) as string,
        tool_calls: [
          {
            id: 'call_46427107',
            type: 'function',
            function: { name: 'weather', arguments: '{"location":"San Francisco"}' },
          },
        ],
      },
    })
    expect(usage).toMatchObject({ prompt_tokens: 307, completion_tokens: 281, total_tokens: 588 })
  })

  it.each([undefined, 7])('streams, cut at every %s bytes', async (size) => {
    const { reasoning, usage, ...rest } = join(await stream(name, size))
    expect(reasoning).toBe(textOf(name, 'reasoning_content'))
    expect(reasoning.length).toBeGreaterThan(500)
    expect(rest).toEqual({
      heads: 1,
      roles: 1,
      text: '',
      calls: [{ id: 'call_79382389', name: 'weather', arguments: '{"location":"San Francisco"}' }],
      finishes: ['tool_calls'],
    })
    expect(usage).toMatchObject([{ prompt_tokens: 307, completion_tokens: 253, total_tokens: 560 }])
  })
})

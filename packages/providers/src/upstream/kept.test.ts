import type { ChatProvider } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { scriptedUpstream } from '../../../../test/support/upstream.js'
import { anthropic } from '../anthropic/index.js'
import { bedrock } from '../bedrock/index.js'
import { google } from '../google/index.js'
import { openai } from '../openai/index.js'
import { toChunks } from '../provider.js'
import { frame } from '../testing/aws-frames.js'

const { signal } = new AbortController()
const messages = [{ role: 'user' as const, content: 'Hi' }]
const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
const x = 'x'.repeat(1_000)

const choice = (delta: object) => event({ id: 'c', model: 'm', choices: [{ index: 0, delta }] })
const called = (call: object) => choice({ tool_calls: [{ index: 0, ...call }] })
const delta = (value: object) => event({ type: 'content_block_delta', index: 0, delta: value })
const part = (functionCall: object) => event({ candidates: [{ content: { parts: [{ functionCall }] } }] })
const partialArgs = [{ jsonPath: '$.a', stringValue: x }]

/** What a stream begins with, and goes on with for ever. */
const streams: [
  name: string,
  family: 'openai' | 'anthropic' | 'google',
  begin: string,
  piece: (i: number) => string,
][] = [
  [
    'arguments of a call',
    'openai',
    called({ id: 'a', function: { name: 'f', arguments: '' } }),
    () => called({ function: { arguments: x } }),
  ],
  ['arguments before the name', 'openai', '', () => called({ function: { arguments: x } })],
  ['calls', 'openai', '', (i) => called({ index: i, id: `c${i}`, function: { name: 'f', arguments: '' } })],
  [
    'thoughts',
    'anthropic',
    event({ type: 'content_block_start', index: 0, content_block: { type: 'thinking' } }),
    () => delta({ type: 'thinking_delta', thinking: x }),
  ],
  [
    'a signature',
    'anthropic',
    event({ type: 'content_block_start', index: 0, content_block: { type: 'thinking' } }),
    () => delta({ type: 'signature_delta', signature: x }),
  ],
  [
    'redacted thoughts',
    'anthropic',
    '',
    (i) => event({ type: 'content_block_start', index: i, content_block: { type: 'redacted_thinking', data: x } }),
  ],
  [
    'partial arguments',
    'google',
    part({ name: 'f', partialArgs, willContinue: true }),
    () => part({ partialArgs, willContinue: true }),
  ],
]

/** Of which some hundred pieces reach the limit by their characters, or what is made of them. */
const long: typeof streams = [
  ['names and ids of calls', 'google', '', (i) => part({ name: x, id: `${i}${x}` })],
  ['ids of calls before their names', 'openai', '', (i) => called({ index: i, id: `${i}${x}` })],
  [
    'objects in partial arguments',
    'google',
    part({ name: 'f', partialArgs, willContinue: true }),
    (i) => part({ partialArgs: [{ jsonPath: `$.b${i}${'.a'.repeat(100)}`, numberValue: 1 }], willContinue: true }),
  ],
  [
    'names of partial arguments',
    'google',
    part({ name: 'f', partialArgs, willContinue: true }),
    (i) => part({ partialArgs: [{ jsonPath: `$.b${i}${x}`, boolValue: true }], willContinue: true }),
  ],
  [
    'log probabilities that wait for a text',
    'google',
    '',
    () => event({ candidates: [{ logprobsResult: { chosenCandidates: [{ token: x, logProbability: -1 }] } }] }),
  ],
]

const LIMIT = 200_000

async function read(
  family: 'openai' | 'anthropic' | 'google',
  pieces: (string | Uint8Array)[],
  take: (bytes: number) => void = () => {},
) {
  const { transport, state } = scriptedUpstream({ type: 'text/event-stream', body: pieces as Uint8Array[] })
  const options = { apiKey: 'k', transport, limits: { event: LIMIT } }
  const provider: ChatProvider = { openai, anthropic, google }[family](options)
  const all = async () => {
    const stream = await provider.chat.stream({ model: 'm', messages, stream: true }, { signal, memory: { take } })
    for await (const _ of toChunks(stream)) void _
  }
  return { error: await all().catch((thrown: unknown) => thrown), left: state.left }
}
/** A memory that has nothing left. */
const refusing = (taken: number[]) => (bytes: number) => {
  taken.push(bytes)
  throw new ApiError(503, 'server_error', 'No memory', { code: 'overloaded' })
}
const encoded = (texts: string[]) => texts.map((text) => new TextEncoder().encode(text))

describe('threat 150: what a stream keeps until its end', () => {
  it.each(streams)('is limited: %s', async (_, family, begin, piece) => {
    const start = family === 'anthropic' ? event({ type: 'message_start', message: { id: 'm', model: 'm' } }) : ''
    const pieces = encoded([start + begin + piece(0), ...Array.from({ length: 8_000 }, (_, i) => piece(i + 1))])
    const taken: number[] = []
    const { error, left } = await read(family, pieces, (bytes) => void taken.push(bytes))
    expect(error).toMatchObject({ failure: { kind: 'malformed', code: 'too_large' } })
    expect(left).toBeGreaterThan(0)
    // Beyond the first 64 KiB it is taken from the memory that requests share.
    expect(taken.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(LIMIT / 2)
  })

  it.each(long)('is counted by what is in it: %s', async (_, family, begin, piece) => {
    const { error } = await read(family, encoded([begin, ...Array.from({ length: 400 }, (_, i) => piece(i + 1))]))
    expect(error).toMatchObject({ failure: { kind: 'malformed', code: 'too_large' } })
  })

  it('is no index of a call or a block that is a text', async () => {
    const first = async (provider: ChatProvider) => {
      const { batches } = await provider.chat.stream({ model: 'm', messages, stream: true }, { signal })
      for await (const batch of batches) return batch.map(({ delta }) => delta)
      return []
    }
    const custom = (index: string) => choice({ tool_calls: [{ index, id: 'a', custom: { name: 'f' } }] })
    const body = encoded([custom('a') + custom('b')])
    const calls = await first(
      openai({
        apiKey: 'k',
        transport: scriptedUpstream({ type: 'text/event-stream', body }).transport,
      }) as ChatProvider,
    )
    expect(calls.map(({ tool_calls }) => tool_calls?.[0]?.index)).toEqual([0, 0])
    const block = (index: string) => event({ type: 'content_block_start', index, content_block: { type: 'text' } })
    const said = (index: string) =>
      event({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: 'Hi' } })
    const message = event({ type: 'message_start', message: { id: 'm', model: 'm' } })
    const { transport } = scriptedUpstream({
      type: 'text/event-stream',
      body: encoded([message + block('a') + said('b')]),
    })
    expect(await first(anthropic({ apiKey: 'k', transport }))).toContainEqual({ content: 'Hi' })
  })

  it('is counted where it is no text', async () => {
    const open = (type: string) => event({ type: 'content_block_start', index: 0, content_block: { type } })
    const numbers = [delta({ type: 'thinking_delta', thinking: 5 }), delta({ type: 'signature_delta', signature: 5 })]
    const start = event({ type: 'message_start', message: { id: 'm', model: 'm' } }) + open('thinking')
    const pieces = encoded([start, ...numbers, ...Array(400).fill(delta({ type: 'thinking_delta', thinking: x }))])
    const { error } = await read('anthropic', pieces)
    expect(error).toMatchObject({ failure: { kind: 'malformed', code: 'too_large' } })
  })

  it('threat 224: does not grow within one event beyond the fields of a request', async () => {
    const deep = Array.from({ length: 900 }, (_, i) => ({ jsonPath: `$.b${i}${'.a'.repeat(120)}` }))
    const pieces = encoded([
      part({ name: 'f', partialArgs: deep.slice(0, 200), willContinue: true }),
      part({ partialArgs: deep }),
    ])
    const { transport } = scriptedUpstream({ type: 'text/event-stream', body: pieces })
    const stream = google({ apiKey: 'k', transport }).chat!.stream({ model: 'm', messages, stream: true }, { signal })
    await expect(stream).rejects.toMatchObject({
      message: 'The arguments of the calls have too many values',
      failure: { kind: 'malformed' },
    })
  })

  it('does not limit texts, which are passed on', async () => {
    const pieces = encoded([...Array.from({ length: 1_000 }, () => choice({ content: x })), 'data: [DONE]\n\n'])
    const taken: number[] = []
    const { error } = await read('openai', pieces, (bytes) => void taken.push(bytes))
    expect(error).toMatchObject({ failure: { kind: 'truncated' } })
    expect(taken).toEqual([])
  })

  it('counts an event that has not ended', async () => {
    const taken: number[] = []
    const pieces = encoded([choice({ content: 'x' }), `data: {"x":"${'x'.repeat(100_000)}`, x])
    const { error } = await read('openai', pieces, refusing(taken))
    expect(error).toMatchObject({ failure: { code: 'too_large', cause: { status: 503 } } })
    expect(taken).toHaveLength(1)
  })

  it('counts a frame of Bedrock that is not complete', async () => {
    const taken: number[] = []
    const pieces = [frame({}, [x.repeat(100)]).subarray(0, 90_000), ...encoded([x])]
    const body = { type: 'application/vnd.amazon.eventstream', body: pieces }
    const provider = bedrock({ apiKey: 'k', region: 'us-east-1', transport: scriptedUpstream(body).transport })
    const call = { signal, memory: { take: refusing(taken) } }
    const request = { model: 'anthropic.claude-sonnet-4-5', messages, stream: true } as const
    const error: unknown = await provider.chat.stream(request, call).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ failure: { code: 'too_large', cause: { status: 503 } } })
    expect(taken).toEqual([90_000 - 65_536])
  })
})

import { readdirSync, readFileSync } from 'node:fs'
import type { ChatChunk } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { checkChunk, checkCompletion } from '../support/decode.js'
import { rejection } from '../support/failure.js'
import { fixtures, needs, recordedTraffic } from '../support/needs.js'
import { thorough } from '../support/scope.js'
import { answering, collect, complete, factsOf, join, plain } from './client.js'
import { families } from './families.js'
import { known } from './known.js'

const others = /embedding|image|transcription|error|429/
const files = recordedTraffic.isMissing
  ? []
  : Object.keys(families)
      .flatMap((family) => readdirSync(new URL(family, fixtures)).map((name) => `${family}/${name}`))
      .filter((name) => !others.test(name))
const answers = files.filter((name) => name.endsWith('.json'))
const streams = files.filter((name) => name.endsWith('.chunks.txt'))

const utf8 = new TextEncoder()
const read = (name: string): string => readFileSync(new URL(name, fixtures), 'utf8')
const familyOf = (name: string) => families[name.split('/')[0]!]!

/** A whole answer, through the adapter of the family that `name` begins with. */
function ask(name: string, answer: string, status?: number) {
  const { provider, model } = familyOf(name)
  return complete(provider(answering([utf8.encode(answer)], 'application/json', status)), model)
}

/** A recorded stream as it came over the wire. */
function open(name: string) {
  const { provider, model, frame, last } = familyOf(name)
  const lines = read(name).trim().split('\n')
  const frames = lines.map(frame)
  if (last) frames.push(`data: ${last}\n\n`)
  const bytes = utf8.encode(frames.join(''))
  let size = 0
  return {
    events: lines.map((line) => JSON.parse(line) as object),
    bytes,
    /** Where the events end. */
    borders: frames.map((text) => (size += utf8.encode(text).length)),
    send: (...pieces: (Uint8Array | Error)[]) => collect(provider(answering(pieces)), model),
    /** Sends it in pieces that end at `cuts`. */
    cut(cuts: number[]) {
      const ends = [...cuts, bytes.length]
      return collect(provider(answering(ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end)))), model)
    },
  }
}

/** Fails on chunks that no client of OpenAI's would read right. */
function checkChunks(chunks: ChatChunk[]): void {
  chunks.forEach(checkChunk)
  expect(new Set(chunks.map(({ id, created, model }) => `${id} ${created} ${model}`)).size).toBe(1)
  const choices = chunks.slice(0, -1).map((chunk) => {
    expect(chunk).not.toHaveProperty('usage')
    expect(chunk.choices).toHaveLength(1)
    return chunk.choices[0]!
  })
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: {} })
  expect(choices.map(({ delta }) => delta.role)).toEqual(['assistant', ...choices.slice(1).map(() => undefined)])
  expect(choices.findIndex(({ finish_reason }) => finish_reason)).toBe(choices.length - 1)
  expect(JSON.stringify(chunks)).not.toContain('obfuscation')
}

const range = (length: number, from = 0): number[] => Array.from({ length }, (_, at) => from + at)

describe('recorded traffic', needs(recordedTraffic), () => {
  it('is complete', () => {
    expect([answers.length, streams.length]).toEqual([13, 14])
    expect(Object.keys(known).filter((name) => !files.includes(name))).toEqual([])
  })

  it.each(answers)('%s is a whole answer', async (name) => {
    const answer = await ask(name, read(name))
    checkCompletion(answer)
    const facts = factsOf(answer)
    expect(facts).toEqual(familyOf(name).facts(JSON.parse(read(name)) as object))
    expect(facts).toMatchObject(known[name] ?? {})
    if (facts.calls.length > 0 && facts.content === '') expect(answer.choices[0]!.message.content).toBeNull()
  })

  it('openai/openai-text.json is passed on unchanged', async () => {
    const text = read('openai/openai-text.json')
    expect(await ask('openai', text)).toEqual(JSON.parse(text))
  })

  it.each(streams)('%s equals the answer that is not streamed', async (name) => {
    const { family, events, bytes, send } = { family: familyOf(name), ...open(name) }
    const { chunks, error } = await send(bytes)
    expect(error).toBeUndefined()
    checkChunks(chunks)
    const joined = family.join(events)
    const whole = await ask(name, JSON.stringify(joined))
    const facts = factsOf(join(chunks))
    expect(facts).toEqual(family.facts(joined))
    expect(facts).toEqual(factsOf(whole))
    expect(join(chunks).usage).toEqual(whole.usage)
    expect(facts).toMatchObject(known[name] ?? {})
  })

  it.each(streams)('%s is the same for any split', { timeout: 3_600_000 }, async (name) => {
    const { bytes, borders, send, cut } = open(name)
    const whole = plain((await send(bytes)).chunks)
    const isSame = async (cuts: number[]): Promise<boolean> => plain((await cut(cuts)).chunks) === whole
    expect(await isSame(range(bytes.length))).toBe(true)
    const near = (offset: number): number[] => borders.map((at) => at + offset).filter((at) => at < bytes.length)
    const alone = (offset: number): number[][] => near(offset).map((at) => [at])
    // Near all borders at once, at each distance in turn, and in two near each border; a small one in two anywhere.
    const usual = [...range(9, -4).map(near), ...range(2, -1).flatMap(alone)]
    const everywhere =
      bytes.length <= 4_096
        ? range(bytes.length).map((at) => [at])
        : [...range(33, -16).map(near), ...range(33, -16).flatMap(alone)]
    const ways = thorough ? everywhere : usual
    const others: number[][] = []
    for (const cuts of ways) if (!(await isSame(cuts))) others.push(cuts)
    expect(others).toEqual([])
  })

  it.each(streams)('%s is incomplete until everything that matters has arrived', async (name) => {
    const { isWhole, saysDone } = familyOf(name)
    const { events, bytes, borders, send } = open(name)
    const whole = plain((await send(bytes)).chunks)
    /** How a stream ends that begins as it should. */
    const endOf = async (...pieces: (Uint8Array | Error)[]): Promise<string> => {
      const { chunks, error } = await send(...pieces)
      if (!whole.startsWith(plain(chunks))) return 'other chunks'
      const finished = chunks.some(({ choices }) => choices[0]?.finish_reason)
      if (!UpstreamError.is(error)) return finished && !error ? 'finished' : `${error}`
      return finished ? 'finished and failed' : error.failure.kind
    }
    const ends: string[] = []
    for (const border of [0, ...borders]) {
      ends.push(await endOf(bytes.subarray(0, border)))
      ends.push(await endOf(bytes.subarray(0, border), new Error('reset')))
    }
    const expected = [0, ...borders].flatMap((_, count) => [
      isWhole(events.slice(0, count)) ? 'finished' : 'truncated',
      saysDone && count === borders.length ? 'finished' : 'truncated',
    ])
    expect(ends).toEqual(expected)
  })

  it('google/google-429-retry-info.json has a Retry-After', async () => {
    expect(await rejection(ask('google', read('google/google-429-retry-info.json'), 429))).toMatchObject({
      message: 'You exceeded your current quota, please check your plan.',
      failure: { status: 429, retryAfter: 35, caller: false, credential: false },
    })
  })

  it('openai/reasoning-model-legacy-parameter-error.json is the fault of the caller', async () => {
    const text = read('openai/reasoning-model-legacy-parameter-error.json')
    expect(await rejection(ask('openai', text, 400))).toMatchObject({
      message:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      failure: { kind: 'status', status: 400, caller: true, accepted: false, code: 'unsupported_parameter' },
    })
  })
})

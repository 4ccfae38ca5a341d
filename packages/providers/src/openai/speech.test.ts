import type { SpeechRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Given } from '../../../../test/support/upstream.js'
import { failure, latin1, scriptedUpstream, senseless } from '../../../../test/support/upstream.js'
import { openaiSpeechRefusal } from '../testing/openai-speech.js'
import { openai } from './index.js'

const request: SpeechRequest = { model: 'tts-1', input: 'Hi', voice: 'nova' }
const pieces = [Uint8Array.of(0xff, 0), Uint8Array.of(0x80)]
const spoken = (type: string | undefined = 'audio/mpeg', body: unknown = pieces): Given => ({ type, body })

function speak(given: Given | Error, fields: Partial<SpeechRequest> = {}) {
  const at = scriptedUpstream(given)
  const provider = openai({ apiKey: 'sk-test', transport: at.transport })
  return { ...at, answer: provider.speech!({ ...request, ...fields }, at.call) }
}

describe('the request', () => {
  it.each<[fields: object, body: object]>([
    [{}, request],
    [
      { response_format: 'flac', speed: 1.5 },
      { ...request, response_format: 'flac', speed: 1.5 },
    ],
    [{ provider: 'openai' }, request],
    [{ instructions: 'Softly' }, { ...request, instructions: 'Softly' }],
  ])('of %j has all its fields', async (fields, body) => {
    const { answer, asked, notes } = speak(spoken(), fields)
    await answer
    expect(asked).toMatchObject([
      {
        url: 'https://api.openai.com/v1/audio/speech',
        headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json', accept: '*/*' },
      },
    ])
    expect(asked[0]!.body).toEqual(body)
    expect(openaiSpeechRefusal(asked[0]!.body)).toBeUndefined()
    expect(notes).toEqual([])
  })
})

describe('the answer', () => {
  it('is streamed, and cancelled when its reader stops', async () => {
    const { answer, state } = speak(spoken())
    const { contentType, body, usage } = await answer
    expect([contentType, usage]).toEqual(['audio/mpeg', undefined])
    const iterator = body[Symbol.asyncIterator]()
    expect((await iterator.next()).value).toEqual(pieces[0])
    expect(state.left).toBe(0)
    await iterator.return!()
    expect(state.left).toBe(1)
  })

  it('is bounded', async () => {
    const at = scriptedUpstream(spoken())
    const { speech } = openai({ apiKey: 'sk-test', transport: at.transport, limits: { answer: 2 } })
    const iterator = (await speech!(request, at.call)).body[Symbol.asyncIterator]()
    expect((await iterator.next()).value).toEqual(pieces[0])
    await expect(iterator.next()).rejects.toMatchObject({
      message: 'The answer is larger than 2 bytes',
      failure: { kind: 'malformed', accepted: true },
    })
    expect(at.state.left).toBe(1)
  })

  it('is whole', async () => {
    const { answer, state } = speak(spoken())
    expect(await latin1((await answer).body)).toBe('\xff\0\x80')
    expect(state.left).toBe(1)
  })

  it.each<[told: string | undefined, format: SpeechRequest['response_format'], type: string]>([
    ['audio/mpeg', 'mp3', 'audio/mpeg'],
    ['audio/mp3', 'mp3', 'audio/mpeg'],
    ['audio/opus', 'opus', 'audio/ogg'],
    ['audio/ogg', 'opus', 'audio/ogg'],
    ['audio/aac', 'aac', 'audio/aac'],
    ['audio/flac', 'flac', 'audio/flac'],
    ['audio/x-flac', 'flac', 'audio/flac'],
    ['audio/wav', 'wav', 'audio/wav'],
    ['audio/x-wav', 'wav', 'audio/wav'],
    ['audio/wave', 'wav', 'audio/wav'],
    ['Audio/MPEG; charset=binary', 'mp3', 'audio/mpeg'],
    ['application/octet-stream', 'opus', 'audio/ogg'],
    ['application/octet-stream', 'aac', 'audio/aac'],
    [undefined, 'wav', 'audio/wav'],
    [undefined, undefined, 'audio/mpeg'],
  ])('declared as %s for %s is %s', async (type, response_format, told) => {
    const { contentType } = await speak({ type, body: pieces }, { response_format }).answer
    expect(contentType).toBe(told)
  })

  it.each(['application/json', 'text/html; charset=utf-8', 'application/problem+json', 'text/plain'])(
    'that is %s is malformed, and cancelled',
    async (type) => {
      const { answer } = speak(spoken(type, '{}'))
      await expect(answer).rejects.toMatchObject(senseless())
    },
  )

  it.each<[what: string, body: unknown]>([
    ['no bytes', []],
    ['an empty piece only', new Uint8Array()],
  ])('of %s is malformed', async (_, body) => {
    const given = Array.isArray(body) ? '' : body
    await expect(speak(spoken('audio/mpeg', given)).answer).rejects.toMatchObject(senseless())
  })

  it('that breaks is truncated, before the first byte and after it', async () => {
    const truncated = failure({ kind: 'truncated', accepted: true })
    await expect(speak(spoken('audio/mpeg', [new Error('ECONNRESET')])).answer).rejects.toMatchObject(truncated)
    const { body } = await speak(spoken('audio/mpeg', [...pieces, new Error('ECONNRESET')])).answer
    await expect(latin1(body)).rejects.toMatchObject(truncated)
  })

  it('with an error status is reported with it', async () => {
    const body = { error: { message: 'Too long', code: null } }
    for (const type of ['application/json', 'audio/mpeg'])
      await expect(speak({ status: 400, type, body }).answer).rejects.toMatchObject({
        ...failure({ kind: 'status', status: 400, caller: true, accepted: false }),
        message: 'Too long',
      })
  })

  it('fails with the reason for which the call is aborted', async () => {
    const { answer, abort } = speak(spoken())
    const { body } = await answer
    const iterator = body[Symbol.asyncIterator]()
    await iterator.next()
    abort(new Error('Enough'))
    await expect(iterator.next()).rejects.toThrow('Enough')
  })
})

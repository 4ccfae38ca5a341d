import { describe, expect, it } from 'vitest'
import { eventReader } from './event-reader.js'

const candidates = (text: string): string => `"candidates":[{"content":{"parts":[{"text":"${text}"}]},"index":0}]`
const report = (prompt: number): string =>
  `"usageMetadata":{"promptTokenCount":${prompt},"promptTokensDetails":[{"modality":"TEXT","tokenCount":${prompt}}]}`
const words = '"modelVersion":"gemini-2.5-flash","responseId":"abc"'
const event = (text: string, prompt: number): string => `{${candidates(text)},${report(prompt)},${words}}`
const answer = (text: string) => ({ candidates: [{ content: { parts: [{ text }] }, index: 0 }] })

/** What a reader makes of events that others follow. */
function read(...events: string[]) {
  const reader = eventReader()
  return { answers: events.map((one) => reader.read(one, true)), usage: reader.usage()?.prompt_tokens }
}

describe('the events of a stream', () => {
  it('are read without the reports that others follow', () => {
    const { answers, usage } = read(event('a', 1), event('b', 2), event('c', 3))
    expect(answers).toEqual([JSON.parse(event('a', 1)), answer('b'), answer('c')])
    expect(usage).toBe(3)
  })

  it('are whole where none follows', () => {
    const { read } = eventReader()
    read(event('a', 1), true)
    expect(read(event('b', 2), false)).toEqual(JSON.parse(event('b', 2)))
  })

  it('are also written with spaces', () => {
    const spaced = (text: string) => event(text, 2).replaceAll('":', '": ')
    expect(read(spaced('a'), spaced('b'))).toEqual({ answers: [JSON.parse(event('a', 2)), answer('b')], usage: 2 })
  })

  it('are whole until the answer has begun, for its id', () => {
    const first = `{"candidates":[],${report(1)},${words}}`
    expect(read(first, event('a', 1)).answers[1]).toEqual(JSON.parse(event('a', 1)))
  })

  it.each([
    ['an error after the report', `{${candidates('b')},${report(2)},"error":{"code":503},${words}}`],
    ['an error after a space', `{${candidates('b')},${report(2)}, "error":{"code":503},${words}}`],
    ['a text over 16 KiB', event('b'.repeat(16_384), 2)],
    ['candidates after the report', `{"responseId":"abc",${report(2)},${candidates('b')},${words}}`],
    ['the report first', `{${report(2)},"promptFeedback":{"blockReason":"OTHER"},${words}}`],
    ['other words after the report', `{${candidates('b')},${report(2)},"modelVersion":"other"}`],
    [
      'an error of the length of those words',
      `{${candidates('b')},${report(2)},"error":"${'x'.repeat(words.length - 10)}"}`,
    ],
    ['a report within something else', `{"candidates":[{"a":1,${report(2)}}],"more":{"b":1},${words}}`],
    [
      'another form of report',
      `{${candidates('b')},"usageMetadata":{"totalTokenCount":1,"promptTokenCount":2},${words}}`,
    ],
    ['no report', `{${candidates('b')},${words}}`],
  ])('are whole with %s', (_, other) => {
    expect(read(event('a', 1), other).answers[1]).toEqual(JSON.parse(other))
  })

  it('are whole after one over 16 KiB', () => {
    expect(read(event('a'.repeat(16_384), 1), event('b', 2)).answers[1]).toEqual(JSON.parse(event('b', 2)))
  })

  it('may have several objects in their reports', () => {
    const two = event('b', 2).replace(':2}]', ':2},{"modality":"AUDIO","tokenCount":1}]')
    expect(read(event('a', 1), two)).toEqual({ answers: [JSON.parse(event('a', 1)), answer('b')], usage: 2 })
  })

  it('may have the words of a report in their texts', () => {
    const text = String.raw`,\"usageMetadata\":{\"promptTokenCount\":9},\"a\":1},\"modelVersion\":\"x\"`
    const said = JSON.parse(`"${text}"`) as string
    expect(read(event(text, 1), event(text, 2))).toEqual({
      answers: [JSON.parse(event(text, 1)), answer(said)],
      usage: 2,
    })
  })

  it('that are no JSON are nothing', () => {
    expect(read(event('a', 1), event('b', 2).replace('[{', '[')).answers[1]).toBeUndefined()
  })

  it('count as the last report does that counts anything and can be read', () => {
    expect(read(event('a', 1), event('b', 2), `{${candidates('c')},"usageMetadata":{}}`).usage).toBe(2)
    const broken = event('b', 2).replace('"TEXT"', 'TEXT')
    expect(read(event('a', 1), broken)).toEqual({ answers: [JSON.parse(event('a', 1)), answer('b')], usage: 1 })
  })

  it('count what the last one reports, however it is read', () => {
    expect(
      read(event('a', 1), event('b', 2), `{${candidates('c')},"usageMetadata":{"promptTokenCount":3}}`).usage,
    ).toBe(3)
    expect(
      read(`{${candidates('a')},"usageMetadata":{"promptTokenCount":1}}`, event('b', 2), event('c', 3)).usage,
    ).toBe(3)
  })

  it('count nothing where none has a report', () => {
    expect(read(`{${candidates('a')},${words}}`).usage).toBeUndefined()
  })
})

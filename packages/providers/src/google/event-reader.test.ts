import { describe, expect, it } from 'vitest'
import { eventReader } from './event-reader.js'

const candidates = (text: string): string => `"candidates":[{"content":{"parts":[{"text":"${text}"}]},"index":0}]`
const report = (prompt: number): string =>
  `"usageMetadata":{"promptTokenCount":${prompt},"promptTokensDetails":[{"modality":"TEXT","tokenCount":${prompt}}]}`
const words = '"modelVersion":"gemini-2.5-flash","responseId":"abc"'
const event = (text: string, prompt: number): string => `{${candidates(text)},${report(prompt)},${words}}`
/** The parsed event without its usage report. */
const answer = (text: string) => ({
  candidates: [{ content: { parts: [{ text }] }, index: 0 }],
  modelVersion: 'gemini-2.5-flash',
  responseId: 'abc',
})

/** Reads events that are all followed by another one, and returns the answers and the last prompt tokens. */
function read(...events: string[]) {
  const reader = eventReader()
  const answers = events.map((one) => structuredClone(reader.read(one, true)))
  return { answers, usage: reader.usage()?.prompt_tokens }
}

describe('the event reader', () => {
  it('skips usage reports that are followed by another', () => {
    const { answers, usage } = read(event('a', 1), event('b', 2), event('c', 3))
    expect(answers).toEqual([JSON.parse(event('a', 1)), answer('b'), answer('c')])
    expect(usage).toBe(3)
  })

  it('keeps the counts that a later report has as 0, read or skipped', () => {
    const other = (prompt: number) => `{${candidates('c')},${report(prompt)},"other":1}`
    expect(read(event('a', 1), event('b', 7), other(0), other(0)).usage).toBe(7)
    expect(read(event('a', 7), event('b', 0)).usage).toBe(7)
    expect(read(event('a', 7), event('b', 8), other(5)).usage).toBe(5)
  })

  it('reads events completely where none follows', () => {
    const { read } = eventReader()
    read(event('a', 1), true)
    expect(read(event('b', 2), false)).toEqual(JSON.parse(event('b', 2)))
  })

  it('accepts spaces in the JSON', () => {
    const spaced = (text: string) => event(text, 2).replaceAll('":', '": ')
    expect(read(spaced('a'), spaced('b'))).toEqual({ answers: [JSON.parse(event('a', 2)), answer('b')], usage: 2 })
  })

  it.each([
    ['an error after the report', `{${candidates('b')},${report(2)},"error":{"code":503},${words}}`],
    ['an error after a space', `{${candidates('b')},${report(2)}, "error":{"code":503},${words}}`],
    ['a text over 4 KiB', event('b'.repeat(4096), 2)],
    ['another beginning', event('b', 2).replace('{"text"', '{"thought":true,"text"')],
    [
      'something between the text and the report',
      event('b', 2).replace('"index":0', '"finishReason":"STOP","index":0'),
    ],
    ['a second part', event('b', 2).replace('"b"}', '"b"},{"text":"c"}')],
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
  ])('reads events completely with %s', (_, other) => {
    expect(read(event('a', 1), other).answers[1]).toEqual(JSON.parse(other))
  })

  it.each([
    ['is over 4 KiB', event('a'.repeat(4096), 1)],
    ['has no text', event('', 1)],
    ['has no candidates', event('a', 1).replace(candidates('a'), '"candidates":[]')],
    ['has no counts', event('a', 1).replace(report(1), '"usageMetadata":{}')],
    ['has no report', event('a', 1).replace(report(1), '"x":1')],
    ['calls', event('a', 1).replace('"a"}', '"a"},{"functionCall":{}}')],
    ['has another text before', event('a', 1).replace('{"candidates"', '{"x":{"text":"a"},"candidates"')],
    ['has its text twice', event('a', 1).replace('"a"}', '"a","text":"b"}')],
    ['has another report before', event('a', 1).replace('"index"', `${report(1)},"index"`)],
    ['has an object after its report', event('a', 1).replace(words, '"x":{}')],
  ])('reads events completely after one that %s', (_, first) => {
    const second = first.replace('"a"', '"b"').replaceAll(':1', ':2')
    expect(read(first, second).answers[1]).toEqual(JSON.parse(second))
  })

  it('reads events completely where other text precedes the report', () => {
    const none = `"x":{"text":"a"},${candidates('')},"usageMetadata":{"promptTokenCount":1}`
    expect(read(`{${none},${candidates('a')},"y":{"z":1}}`, `{${none}}`).answers[1]).toEqual(JSON.parse(`{${none}}`))
  })

  it('reads events completely where another name ends like that of the report', () => {
    const like = (count: number) =>
      String.raw`{${report(1)},${candidates('a')},"\"usageMetadata":{"promptTokenCount":${count}}}`
    expect(read(like(0), like(2))).toEqual({ answers: [JSON.parse(like(0)), JSON.parse(like(2))], usage: 1 })
  })

  it('takes the form of an event that is not the first', () => {
    const { answers, usage } = read(event('', 1), event('a', 2), event('b', 3))
    expect(answers[2]).toEqual(answer('b'))
    expect(usage).toBe(3)
  })

  it('keeps the form after an event without a report', () => {
    const none = event('a', 2).replace(candidates('a'), '"candidates":[]')
    expect(read(event('a', 1), none, event('b', 3)).answers[2]).toEqual(answer('b'))
  })

  it('accepts another form from some event on', () => {
    const thought = (text: string) => event(text, 1).replace('{"text"', '{"thought":true,"text"')
    const part = { thought: true, text: 'b' }
    const { answers } = read(thought('a'), thought('b'), event('c', 2), event('d', 3))
    expect(answers[1]).toEqual({ ...answer(''), candidates: [{ content: { parts: [part] }, index: 0 }] })
    expect(answers[3]).toEqual(answer('d'))
  })

  it.each(['', '}', '}]}', 'model', '<b>', String.raw`é\u003c\\`, String.raw`\"}]`])('accepts %s', (text) => {
    expect(read(event('a', 1), event(text, 2)).answers[1]).toEqual(answer(JSON.parse(`"${text}"`) as string))
  })

  it.each(['\\', '\\x', '\t', '"'])('refuses %j', (text) => {
    expect(read(event('a', 1), event(text, 2)).answers[1]).toBeUndefined()
  })

  it('accepts several objects in a report', () => {
    const two = event('b', 2).replace(':2}]', ':2},{"modality":"AUDIO","tokenCount":1}]')
    expect(read(event('a', 1), two)).toEqual({ answers: [JSON.parse(event('a', 1)), answer('b')], usage: 2 })
  })

  it('accepts the name of the report in texts', () => {
    const text = String.raw`,\"usageMetadata\":{\"promptTokenCount\":9},\"a\":1},\"modelVersion\":\"x\"`
    const said = JSON.parse(`"${text}"`) as string
    expect(read(event(text, 1), event(text, 2))).toEqual({
      answers: [JSON.parse(event(text, 1)), answer(said)],
      usage: 2,
    })
  })

  it('returns nothing for invalid JSON', () => {
    expect(read(event('a', 1), event('b', 2).replace('[{', '[')).answers[1]).toBeUndefined()
  })

  it('uses the last report that is readable and has counts', () => {
    expect(read(event('a', 1), event('b', 2), `{${candidates('c')},"usageMetadata":{}}`).usage).toBe(2)
    const broken = event('b', 2).replace('"TEXT"', 'TEXT')
    expect(read(event('a', 1), broken)).toEqual({ answers: [JSON.parse(event('a', 1)), answer('b')], usage: 1 })
  })

  it('uses the counts of the last report, however it is read', () => {
    expect(
      read(event('a', 1), event('b', 2), `{${candidates('c')},"usageMetadata":{"promptTokenCount":3}}`).usage,
    ).toBe(3)
    expect(
      read(`{${candidates('a')},"usageMetadata":{"promptTokenCount":1}}`, event('b', 2), event('c', 3)).usage,
    ).toBe(3)
  })

  it('has no usage without a report', () => {
    expect(read(`{${candidates('a')},${words}}`).usage).toBeUndefined()
  })
})

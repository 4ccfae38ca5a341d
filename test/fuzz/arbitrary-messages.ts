import * as fc from 'fast-check'
import { maybe, name, text } from './arbitrary-tools.js'

export type Message = { role: string } & Record<string, unknown>

export const image = (url: string) => ({ type: 'image_url', image_url: { url } })
export const file = (given: object) => ({ type: 'file', file: given })

const textPart = text.map((value) => ({ type: 'text', text: value }))
const textParts = fc.array(textPart, { minLength: 1, maxLength: 2 })

/** Text, or parts of nothing else. */
const words = fc.oneof(text, textParts)

/** What every family takes from a user. */
const part = fc.oneof(
  { arbitrary: textPart, weight: 2 },
  {
    arbitrary: fc.constantFrom<object>(
      image('data:image/png;base64,iVBORw0='),
      image('data:image/jpg;base64,/9j/'),
      { type: 'image_url', image_url: { url: 'data:image/webp;base64,UklGRg==', detail: 'high' } },
      file({ filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' }),
      file({ filename: 'a.txt', file_data: 'data:text/plain;base64,SGVsbG8=' }),
    ),
    weight: 3,
  },
)

/** What some of them take. */
const media = [
  image('https://example.com/a.png'),
  { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
  { type: 'input_audio', input_audio: { data: '//uQ', format: 'mp3' } },
  file({ file_id: 'https://generativelanguage.googleapis.com/v1beta/files/abc' }),
]
/** The same as other gateways have it. */
const video = { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } }

const shortId = fc.oneof(fc.constantFrom('call_1', 'call_2', 'call.1:2', 'function-call-0'), fc.string())
/** OpenAI refuses ids of more than 40 characters. */
const anyId = fc.oneof({ arbitrary: shortId, weight: 4 }, { arbitrary: fc.constant('x'.repeat(41)), weight: 1 })
const object = fc.dictionary(fc.constantFrom('p', '__proto__'), fc.jsonValue()).map((value) => JSON.stringify(value))
const args = fc.oneof({ arbitrary: object, weight: 4 }, { arbitrary: fc.constantFrom('', '{}'), weight: 1 })

/** Calls with their results, in order or not. */
const round = (foreign: boolean): fc.Arbitrary<Message[]> =>
  fc
    .tuple(
      maybe(text),
      fc.uniqueArray(fc.tuple(foreign ? anyId : shortId, name, args, words), {
        selector: ([one]) => one,
        minLength: 1,
        maxLength: 3,
      }),
      fc.boolean(),
      foreign ? fc.boolean() : fc.constant(false),
    )
    .map(([content, calls, reverse, signed]) => {
      const results = calls.map(([tool_call_id, , , result]) => ({ role: 'tool', tool_call_id, content: result }))
      const tool_calls = calls.map(([callId, called, given], i) => ({
        id: callId,
        type: 'function',
        function: { name: called, arguments: given },
        ...(signed && i === 0 && { extra_content: { google: { thought_signature: 'c2lnbmF0dXJl' } } }),
      }))
      return [{ role: 'assistant', content, tool_calls }, ...(reverse ? results.toReversed() : results)]
    })

/** The same with the functions of old. */
const oldRound = fc.tuple(name, args, text).map(([called, given, content]): Message[] => [
  { role: 'assistant', content: null, function_call: { name: called, arguments: given } },
  { role: 'function', name: called, content },
])

/** The same with a custom tool. */
const customRound = text.map((input): Message[] => [
  { role: 'assistant', tool_calls: [{ id: 'call_free', type: 'custom', custom: { name: 'free', input } }] },
  { role: 'tool', tool_call_id: 'call_free', content: input },
])

const assistant = fc.oneof(
  words.map((content) => ({ content })),
  fc.tuple(text, text).map(([said, refusal]) => ({
    content: [
      { type: 'text', text: said },
      { type: 'refusal', refusal },
    ],
  })),
  text.map((refusal) => ({ content: null, refusal: `No. ${refusal}` })),
)

/** A turn of the conversation: something said, or calls with their results. */
const turn = (foreign: boolean): fc.Arbitrary<Message[]> =>
  fc.oneof(
    fc
      .tuple(fc.oneof(text, fc.array(part, { minLength: 1, maxLength: 3 })), maybe(name))
      .map(([content, name]): Message[] => [{ role: 'user', content, name }]),
    assistant.map((said): Message[] => [{ role: 'assistant', ...said }]),
    fc.tuple(fc.constantFrom('system', 'developer'), words).map(([role, content]): Message[] => [{ role, content }]),
    round(foreign),
    oldRound,
    ...(foreign ? [] : [customRound]),
  )

/**
 * A conversation that ends with the user, because newer models refuse to go on by themselves.
 * @param foreign whether what OpenAI itself has not is in it
 */
export const conversation = (foreign: boolean, cached: fc.Arbitrary<object>): fc.Arbitrary<Message[]> =>
  fc
    .tuple(
      fc.array(turn(foreign), { maxLength: 5 }),
      fc.boolean(),
      fc.oneof(
        { arbitrary: fc.constant(undefined), weight: 2 },
        { arbitrary: fc.constantFrom<object>(...media, ...(foreign ? [video] : [])), weight: 1 },
      ),
      cached,
    )
    .map(([turns, asks, medium, mark]) => {
      const messages = turns.flat()
      const last = messages.at(-1)?.role
      if (asks || medium || (last !== 'user' && last !== 'tool' && last !== 'function'))
        messages.push({
          role: 'user',
          content: [{ type: 'text', text: 'Go on with JSON', ...mark }, ...(medium ? [medium] : [])],
        })
      return messages
    })

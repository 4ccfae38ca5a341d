import { expectEqual, expectThat } from '../expect.js'
import type { Part } from '../families/family.js'
import type { Passed } from '../passed.js'
import { askedBy, choiceOf } from '../passed.js'
import { casesOfEach, expectInOrder, hi, textOf, user } from './define.js'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const pdf = 'data:application/pdf;base64,JVBERi0xLjQKJcOkw7zDtsOfCg=='
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='
const imageUrl = 'https://images.example/cat.png'

const source = 'OpenAI API reference, create chat completion: messages'

const images = (parts: Part[]): unknown[] => parts.flatMap((part) => ('image' in part ? [part.image] : []))

const system = (content: string | object[], role = 'system') => ({ role, content })
const text = (content: string) => ({ type: 'text', text: content })

const lastText = (passed: Passed): string =>
  askedBy(passed)
    .turns.flatMap(({ parts }) => parts)
    .flatMap((part) => ('text' in part ? [part.text] : []))
    .at(-1) ?? ''

/** Checks that the base64 of a file reached the upstream. */
const sends =
  (file: string) =>
  ({ sent: [first] }: Passed): void => {
    const body = JSON.stringify(first?.body ?? null)
    expectThat('the request', body.includes(file.replace(/^.*,/, '')), 'the file', first?.body)
  }

/** How messages reach the model. */
export const messageCases = casesOfEach('translation', () => [
  {
    name: 'a user message reaches the model, and its answer the client',
    source,
    check(passed) {
      expectEqual('the turns', askedBy(passed).turns, [{ role: 'user', parts: [{ text: 'Hi' }] }])
      expectEqual('the content', choiceOf(passed).content, 'Hello')
    },
  },
  {
    name: 'a system message is the system prompt, and no message of the user',
    source,
    request: { messages: [system('Be brief.'), user('Hi')] },
    check(passed) {
      const { system, turns } = askedBy(passed)
      expectEqual('the system prompt', system, 'Be brief.')
      expectEqual('the turns', turns, [{ role: 'user', parts: [{ text: 'Hi' }] }])
    },
  },
  {
    name: 'every system message reaches the model, in order',
    source,
    request: { messages: [system('First rule.'), system('Second rule.'), user('Hi')] },
    check: (passed) => expectInOrder('the system prompt', askedBy(passed).system, ['First rule.', 'Second rule.']),
  },
  {
    name: 'a system message in parts is whole',
    source,
    request: { messages: [system([text('First rule.'), text('Second rule.')]), user('Hi')] },
    check: (passed) => expectInOrder('the system prompt', askedBy(passed).system, ['First rule.', 'Second rule.']),
  },
  {
    name: 'a developer message is a system message',
    source: `${source}: developer messages replace system messages for newer models`,
    request: { messages: [system('Be brief.', 'developer'), user('Hi')] },
    check: (passed) => expectEqual('the system prompt', askedBy(passed).system, 'Be brief.'),
  },
  {
    name: 'a conversation keeps its turns',
    source,
    request: { messages: [user('One'), { role: 'assistant', content: 'Two' }, user('Three')] },
    check(passed) {
      const turns = askedBy(passed).turns.map((turn) => [turn.role, textOf(turn)])
      expectEqual('the turns', turns, [
        ['user', 'One'],
        ['assistant', 'Two'],
        ['user', 'Three'],
      ])
    },
  },
  {
    name: 'successive messages of the user all reach the model',
    source,
    request: { messages: [user('One'), user('Two'), user('Three')] },
    check(passed) {
      const [turn, ...more] = askedBy(passed).turns
      expectEqual('the number of further turns', more.length, 0)
      expectInOrder('the turn', textOf(turn), ['One', 'Two', 'Three'])
    },
  },
  {
    name: 'an empty answer in the history does not fail',
    source,
    request: { messages: [user('One'), { role: 'assistant', content: '' }, user('Two')] },
    check: (passed) => expectThat('the turns', lastText(passed) === 'Two', 'Two at the end', passed.sent[0]?.body),
  },
  {
    name: 'the name of a participant does not fail',
    source: `${source}: name`,
    request: { messages: [{ ...user('Hi'), name: 'ada' }] },
    check: (passed) => expectEqual('the text', lastText(passed), 'Hi'),
  },
  {
    name: 'a message in parts is whole',
    source,
    request: { messages: [user([text('One'), text('Two')])] },
    check: (passed) => expectInOrder('the turn', textOf(askedBy(passed).turns[0]), ['One', 'Two']),
  },
  {
    name: 'text is kept to the character',
    source,
    request: { messages: [user('Grüße 👩‍🚀\n"quoted" \\ <b> \u2028 data: [DONE]\n\n')] },
    check: (passed) =>
      expectEqual('the text', textOf(askedBy(passed).turns[0]), 'Grüße 👩‍🚀\n"quoted" \\ <b> \u2028 data: [DONE]\n\n'),
  },
  {
    name: 'a prompt of 300 kB reaches the model',
    source,
    request: { messages: [user('word '.repeat(60_000))] },
    check: (passed) => expectEqual('the length', textOf(askedBy(passed).turns[0]).length, 300_000),
  },
  {
    name: 'an image in a data URL reaches the model, after its text',
    source: `${source}: image_url`,
    request: {
      messages: [
        user([text('What is this?'), { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }]),
      ],
    },
    check(passed) {
      const { parts } = askedBy(passed).turns[0]!
      expectEqual('the parts', parts, [{ text: 'What is this?' }, { image: { type: 'image/png', data: png } }])
    },
  },
  {
    name: 'an image at a URL is sent or refused, not dropped',
    source: `${source}: image_url`,
    request: { messages: [user([text('What?'), { type: 'image_url', image_url: { url: imageUrl } }])] },
    unsupported: true,
    check(passed) {
      const sent = images(askedBy(passed).turns.flatMap(({ parts }) => parts))
      expectEqual('the images', sent, [{ url: imageUrl }])
    },
  },
  {
    name: 'a PDF is sent or refused, not dropped',
    source: `${source}: file`,
    request: { messages: [user([text('What?'), { type: 'file', file: { filename: 'a.pdf', file_data: pdf } }])] },
    unsupported: true,
    check: sends(pdf),
  },
  {
    name: 'a recording is sent or refused, not dropped',
    source: `${source}: input_audio`,
    request: { messages: [user([text('What?'), { type: 'input_audio', input_audio: { data: wav, format: 'wav' } }])] },
    unsupported: true,
    check: sends(wav),
  },
  {
    name: 'optional fields that are null count as absent',
    source: 'OpenAI API specification, CreateChatCompletionRequest: nullable',
    request: { ...hi, temperature: null, top_p: null, n: null, stop: null, max_tokens: null, stream: null },
    check(passed) {
      expectEqual('the temperature', askedBy(passed).temperature, undefined)
      expectThat('the answer', choiceOf(passed).content === 'Hello', '"Hello"', passed.text)
    },
  },
])

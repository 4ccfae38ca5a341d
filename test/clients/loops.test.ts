import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runtime } from '../support/runtime.js'
import type { FamiliesStack } from './families-stack.js'
import { models, startFamilies } from './families-stack.js'
import { kinds } from './kinds.js'
import type { Script } from './scripted-upstream.js'

/** What the results of the three calls are. */
interface Results {
  oslo: string
  lima: string
  both: string
}

const text = 'Where is it warmer?'
const comment = 'Let me look.'

/** Two calls at once, then one with what these gave, then an answer with all results. */
const script: Script = (results) => {
  const [first, second] = results
  if (results.length === 0)
    return {
      text: comment,
      calls: [
        { id: 'oslo', name: 'look_up_weather', input: { city: 'Oslo' } },
        { id: 'lima', name: 'look_up_weather', input: { city: 'Lima' } },
      ],
    }
  if (results.length === 2)
    return { text: '', calls: [{ id: 'both', name: 'compare_weather', input: { first, second } }] }
  return { text: `The results: ${results.join(', ')}.`, calls: [] }
}

const openaiMessages = ({ oslo, lima, both }: Results) => [
  { role: 'user', content: text },
  {
    role: 'assistant',
    content: comment,
    tool_calls: [
      { id: 'call_oslo', type: 'function', function: { name: 'look_up_weather', arguments: '{"city":"Oslo"}' } },
      { id: 'call_lima', type: 'function', function: { name: 'look_up_weather', arguments: '{"city":"Lima"}' } },
    ],
  },
  { role: 'tool', tool_call_id: 'call_oslo', content: oslo },
  { role: 'tool', tool_call_id: 'call_lima', content: lima },
  {
    role: 'assistant',
    tool_calls: [
      {
        id: 'call_both',
        type: 'function',
        function: { name: 'compare_weather', arguments: `{"first":"${oslo}","second":"${lima}"}` },
      },
    ],
  },
  { role: 'tool', tool_call_id: 'call_both', content: both },
]

const claudeMessages = ({ oslo, lima, both }: Results) => [
  { role: 'user', content: [{ type: 'text', text }] },
  {
    role: 'assistant',
    content: [
      { type: 'text', text: comment },
      { type: 'tool_use', id: 'toolu_oslo', name: 'look_up_weather', input: { city: 'Oslo' } },
      { type: 'tool_use', id: 'toolu_lima', name: 'look_up_weather', input: { city: 'Lima' } },
    ],
  },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'toolu_oslo', content: oslo },
      { type: 'tool_result', tool_use_id: 'toolu_lima', content: lima },
    ],
  },
  {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'toolu_both', name: 'compare_weather', input: { first: oslo, second: lima } }],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_both', content: both }] },
]

/** Without ids, which these models do not give. */
const gemini2Contents = ({ oslo, lima, both }: Results) => [
  { role: 'user', parts: [{ text }] },
  {
    role: 'model',
    parts: [
      { text: comment },
      { functionCall: { name: 'look_up_weather', args: { city: 'Oslo' } } },
      { functionCall: { name: 'look_up_weather', args: { city: 'Lima' } } },
    ],
  },
  {
    role: 'user',
    parts: [
      { functionResponse: { name: 'look_up_weather', response: { output: oslo } } },
      { functionResponse: { name: 'look_up_weather', response: { output: lima } } },
    ],
  },
  { role: 'model', parts: [{ functionCall: { name: 'compare_weather', args: { first: oslo, second: lima } } }] },
  { role: 'user', parts: [{ functionResponse: { name: 'compare_weather', response: { output: both } } }] },
]

/** With the model's own ids, and its signatures or what stands for them. */
const gemini3Contents = ({ oslo, lima, both }: Results, signed: boolean) => {
  const sign = (signature: string) => ({ thoughtSignature: signed ? signature : 'skip_thought_signature_validator' })
  return [
    { role: 'user', parts: [{ text }] },
    {
      role: 'model',
      parts: [
        { text: comment },
        { functionCall: { name: 'look_up_weather', args: { city: 'Oslo' }, id: 'oslo' }, ...sign('b3Nsbw==') },
        { functionCall: { name: 'look_up_weather', args: { city: 'Lima' }, id: 'lima' } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { name: 'look_up_weather', response: { output: oslo }, id: 'oslo' } },
        { functionResponse: { name: 'look_up_weather', response: { output: lima }, id: 'lima' } },
      ],
    },
    {
      role: 'model',
      parts: [
        {
          functionCall: { name: 'compare_weather', args: { first: oslo, second: lima }, id: 'both' },
          ...sign('Ym90aA=='),
        },
      ],
    },
    {
      role: 'user',
      parts: [{ functionResponse: { name: 'compare_weather', response: { output: both }, id: 'both' } }],
    },
  ]
}

/** Checks what the model was sent in the third step. */
function checkHistory(model: string, body: unknown, results: Results, signed: boolean): void {
  const { messages, contents } = body as { messages?: unknown; contents?: unknown }
  // What else its clients say in their messages goes through to OpenAI.
  if (model.startsWith('gpt')) expect(messages).toMatchObject(openaiMessages(results))
  else if (model.includes('claude')) expect(messages).toEqual(claudeMessages(results))
  else
    expect(contents).toEqual(model.includes('gemini-3') ? gemini3Contents(results, signed) : gemini2Contents(results))
}

let stack: FamiliesStack
beforeAll(async () => {
  stack = await startFamilies()
  stack.script = script
})
afterAll(() => stack.stop())

describe.each(kinds)(`$name against ${runtime}`, ({ connect, keepsSignatures }) => {
  describe.each(models)('and $model', ({ model, vendor }) => {
    it.each([false, true])('complete a loop of three steps, streamed: %s', async (stream) => {
      const { requests } = stack.upstreams[vendor]
      const before = requests.length
      const [oslo, lima, both] = [randomUUID(), randomUUID(), randomUUID()]
      const look = vi.fn(({ city }: Record<string, string>) => (city === 'Oslo' ? oslo : lima))
      const compare = vi.fn(() => both)
      const { url, key } = stack
      const answer = await connect({ url, key }).ask(
        {
          model,
          text,
          tools: [
            { name: 'look_up_weather', inputs: ['city'], run: look },
            { name: 'compare_weather', inputs: ['first', 'second'], run: compare },
          ],
        },
        { stream },
      )
      expect(answer).toMatchObject({ text: `The results: ${oslo}, ${lima}, ${both}.`, finish: 'stop' })
      expect(look.mock.calls).toEqual([[{ city: 'Oslo' }], [{ city: 'Lima' }]])
      expect(compare.mock.calls).toEqual([[{ first: oslo, second: lima }]])
      const bodies = requests.slice(before).map(({ body }) => body)
      expect(bodies).toHaveLength(3)
      checkHistory(model, bodies[2], { oslo, lima, both }, keepsSignatures)
    })
  })
})

import { readFileSync, writeFileSync } from 'node:fs'
import type { ChatCompletionRequest } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import type { ChatAdapter } from '@turnpike/providers'
import { anthropicChat, googleChat, openaiChat } from '@turnpike/providers'
import { expect, it } from 'vitest'

/**
 * The table of docs/providers.md, made by asking each adapter for one request per field (ruling 20).
 * `UPDATE=1` writes it anew; otherwise it must be what the page says.
 */
const page = new URL('../docs/providers.md', import.meta.url)
const begin = '<!-- table: test/fidelity.test.ts -->'
const end = '<!-- end -->'

const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }]
const schema = { type: 'object', properties: { n: { type: 'integer' } } }
const answer = { type: 'json_schema', json_schema: { name: 'answer', schema } }
const part = (given: object) => ({ messages: [{ role: 'user', content: [given] }] })
const image = (url: string) => part({ type: 'image_url', image_url: { url } })

/** By the name in the table: what is added to a plain request. */
const fields: Record<string, object> = {
  '`system`, system and developer messages': { system: 'Be brief.' },
  'text, tool calls and results': { tools, tool_choice: 'auto' },
  'image as a data URL': image('data:image/png;base64,iVBORw0='),
  'image as an https URL': image('https://example.com/a.png'),
  'PDF (`file`)': part({
    type: 'file',
    file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
  }),
  'audio (`input_audio`)': part({ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }),
  'video (`video_url`)': part({ type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } }),
  '`max_tokens`, `max_completion_tokens`': { max_tokens: 100 },
  '`temperature` up to 1': { temperature: 0.5 },
  '`temperature` above 1': { temperature: 1.5 },
  '`top_p`': { top_p: 0.9 },
  '`top_p` with `temperature`': { top_p: 0.9, temperature: 0.5 },
  '`stop`': { stop: ['X'] },
  '`seed`': { seed: 7 },
  '`frequency_penalty`': { frequency_penalty: 0.5 },
  '`presence_penalty`': { presence_penalty: 0.5 },
  '`logprobs`': { logprobs: true },
  '`logit_bias`': { logit_bias: { 1: 2 } },
  '`tool_choice` `required`': { tools, tool_choice: 'required' },
  '`tool_choice` of a function': { tools, tool_choice: { type: 'function', function: { name: 'f' } } },
  '`parallel_tool_calls` `false`': { tools, parallel_tool_calls: false },
  'custom tools': { tools: [{ type: 'custom', custom: { name: 'f' } }] },
  '`response_format` `json_schema`': { response_format: answer },
  '`response_format` `json_object`': { response_format: { type: 'json_object' } },
  '`reasoning_effort`': { reasoning_effort: 'low' },
  '`user`': { user: 'u-1' },
  '`metadata`': { metadata: { a: 'b' } },
  '`store`': { store: true },
  '`service_tier`': { service_tier: 'auto' },
  '`verbosity`': { verbosity: 'low' },
  'a field that nobody knows': { made_up: 1 },
}

const families: [name: string, adapter: ChatAdapter, model: string][] = [
  ['gpt-4o', openaiChat('openai'), 'gpt-4o'],
  ['claude-sonnet-4-5', anthropicChat('anthropic'), 'claude-sonnet-4-5'],
  ['claude-opus-4-8', anthropicChat('anthropic'), 'claude-opus-4-8'],
  ['gemini-2.5-flash', googleChat('google'), 'gemini-2.5-flash'],
  ['gemini-3-flash-preview', googleChat('google'), 'gemini-3-flash-preview'],
]

/** What becomes of a field. */
function outcome(adapter: ChatAdapter, model: string, added: object): string {
  const plain = { model, messages: [{ role: 'user', content: 'Hi' }] } as ChatCompletionRequest
  try {
    const { notes, body } = adapter.request({ ...plain, ...added } as ChatCompletionRequest)
    if (notes.length > 0) return [...new Set(notes.map(({ action }) => action))].join(', ')
    return JSON.stringify(body) === JSON.stringify(adapter.request(plain).body) ? 'not needed' : 'yes'
  } catch (error) {
    if (ApiError.is(error) && error.status === 400) return '400'
    throw error
  }
}

const row = (cells: string[]): string => `| ${cells.join(' | ')} |`

it('says in docs/providers.md what becomes of each field', () => {
  const table = [
    row(['Field', ...families.map(([name]) => `\`${name}\``)]),
    row(['---', ...families.map(() => '---')]),
    ...Object.entries(fields).map(([name, added]) =>
      row([name, ...families.map(([, adapter, model]) => outcome(adapter, model, added))]),
    ),
  ].join('\n')
  const text = readFileSync(page, 'utf8')
  const [before, rest] = text.split(begin) as [string, string]
  const [given, after] = rest.split(end) as [string, string]
  if (process.env['UPDATE']) writeFileSync(page, `${before}${begin}\n\n${table}\n\n${end}${after}`)
  else expect(given.trim()).toBe(table)
})

import type { ChatCompletionRequest, Fidelity, Provider } from '@turnpike/core'
import { ApiError } from '@turnpike/core'

const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }]
const schema = { type: 'object', properties: { n: { type: 'integer' } } }
const hi = { role: 'user', content: 'Hi' }
const call = {
  role: 'assistant',
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
}
const answer = { type: 'json_schema', json_schema: { name: 'answer', schema } }
const part = (given: object) => ({ messages: [{ role: 'user', content: [given] }] })
const image = (url: string) => part({ type: 'image_url', image_url: { url } })

/** The fields added to a minimal request, by the name of the field or usage that they test. */
const probes: Record<string, object> = {
  'system, system and developer messages': { system: 'Be brief.' },
  'system messages alone': { messages: [{ role: 'system', content: 'Be brief.' }] },
  'an assistant message first': { messages: [{ role: 'assistant', content: 'Welcome.' }, hi] },
  'an assistant message last (prefill)': { messages: [hi, { role: 'assistant', content: 'It is' }] },
  'a tool call first': { tools, messages: [call, { role: 'tool', tool_call_id: 'call_1', content: '22C' }] },
  'tools, tool calls and results': { tools, tool_choice: 'auto' },
  'image as a data URL': image('data:image/png;base64,iVBORw0='),
  'image as an https URL': image('https://example.com/a.png'),
  'PDF (file)': part({ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } }),
  'audio (input_audio)': part({ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }),
  'video (video_url)': part({ type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } }),
  'max_tokens, max_completion_tokens': { max_tokens: 100 },
  'temperature up to 1': { temperature: 0.5 },
  'temperature above 1': { temperature: 1.5 },
  top_p: { top_p: 0.9 },
  'top_p with temperature': { top_p: 0.9, temperature: 0.5 },
  stop: { stop: ['X'] },
  seed: { seed: 7 },
  frequency_penalty: { frequency_penalty: 0.5 },
  presence_penalty: { presence_penalty: 0.5 },
  logprobs: { logprobs: true },
  logit_bias: { logit_bias: { 1: 2 } },
  'tool_choice required': { tools, tool_choice: 'required' },
  'tool_choice of a function': { tools, tool_choice: { type: 'function', function: { name: 'f' } } },
  'parallel_tool_calls false': { tools, parallel_tool_calls: false },
  'custom tools': { tools: [{ type: 'custom', custom: { name: 'f' } }] },
  'response_format json_schema': { response_format: answer },
  // "'messages' must contain the word 'json' in some form" (OpenAI).
  'response_format json_object': {
    messages: [{ role: 'user', content: 'Hi, in JSON' }],
    response_format: { type: 'json_object' },
  },
  reasoning_effort: { reasoning_effort: 'low' },
  user: { user: 'u-1' },
  metadata: { metadata: { a: 'b' } },
  store: { store: true },
  service_tier: { service_tier: 'auto' },
  verbosity: { verbosity: 'low' },
  'a field that nobody knows': { made_up: 1 },
}

/** Actions by significance; if a probe has several notes, the first of these is reported. */
const strongest: Fidelity[] = ['dropped', 'clamped', 'emulated']

/**
 * How a model's provider treats each field, determined by a preview of one request per field.
 * It is the source of the table in docs/providers.md and of `GET /v1/models/{model}`.
 */
export function fidelityOf(chat: NonNullable<Provider['chat']>, model: string): Record<string, Fidelity> {
  const outcome = (added: object): Fidelity => {
    const request = { model, messages: [hi], ...added } as ChatCompletionRequest
    try {
      const actions = chat.preview(request).map(({ action }) => action)
      return strongest.find((word) => actions.some((action) => action === word)) ?? 'kept'
    } catch (error) {
      if (ApiError.is(error) && error.status === 400) return 'refused'
      throw error
    }
  }
  return Object.fromEntries(Object.entries(probes).map(([name, added]) => [name, outcome(added)]))
}

import { secondsNow } from '../answers/chunk-builder.js'
import type { FakeAnswer, FakeRequest } from './fake-upstream.js'
import { json, refused, requestId } from './openai-answers.js'
import { openaiRefusal } from './openai-rules.js'
import { sampleJson } from './sample-json.js'
import { newId, paced, tokens, wordsOf } from './simulation.js'

interface ChatBody {
  model: string
  messages: { role: string; content?: unknown }[]
  stream?: boolean
  stream_options?: { include_usage?: boolean }
  n?: number
  max_tokens?: number
  max_completion_tokens?: number
  tools?: Tool[]
  tool_choice?: string | Choice
  response_format?: { type: string; json_schema?: { schema?: unknown } }
}

interface Tool {
  type: string
  function?: { name: string; parameters?: unknown }
  custom?: { name: string }
}

/** An object as `tool_choice`. */
interface Choice extends Tool {
  allowed_tools?: { mode: string; tools: Tool[] }
}

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content.map((part: { text?: string }) => part.text ?? '').join(' ')
      : ''

interface ToolCall {
  id: string
  type: string
  function?: { name: string; arguments: string }
  custom?: { name: string; input: string }
}

interface Generation {
  content: string | null
  toolCalls: ToolCall[]
  finish: 'stop' | 'length' | 'tool_calls'
}

const nameOf = (tool: Tool): string => (tool.function ?? tool.custom)?.name ?? ''

/** The tool that the model calls: the forced one, or one that the user names; none after a result. */
function chosenTool({ tools = [], tool_choice = 'auto', messages }: ChatBody): Tool | undefined {
  const last = messages.at(-1)!
  const { allowed_tools: allowed, ...forced } = typeof tool_choice === 'object' ? tool_choice : ({} as Choice)
  if (nameOf(forced)) return tools.find((tool) => nameOf(tool) === nameOf(forced))
  if (last.role === 'tool' || tool_choice === 'none') return undefined
  const free = allowed ? tools.filter((tool) => allowed.tools.some((one) => nameOf(one) === nameOf(tool))) : tools
  if (tool_choice === 'required' || allowed?.mode === 'required') return free[0]
  const asked = textOf(last.content)
  return free.find((tool) => asked.includes(nameOf(tool)))
}

/** The model's text: deterministic, including the tool results and the user's text. */
function generate(body: ChatBody, index: number): Generation {
  const { messages, response_format, max_completion_tokens = body.max_tokens } = body
  const tool = chosenTool(body)
  if (tool) {
    const { type, function: definition } = tool
    const name = nameOf(tool)
    const id = `call_simulated${messages.length}x${index}`
    const call: ToolCall = definition
      ? { id, type, function: { name, arguments: JSON.stringify(sampleJson(definition.parameters)) } }
      : { id, type, custom: { name, input: 'simulated' } }
    return { content: null, toolCalls: [call], finish: 'tool_calls' }
  }
  const results = messages
    .slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
    .filter(({ role }) => role === 'tool')
  let content: string
  if (response_format?.type === 'json_schema') content = JSON.stringify(sampleJson(response_format.json_schema?.schema))
  else if (response_format?.type === 'json_object') content = '{"simulated":true}'
  else if (results.length > 0)
    content = `The tools answered: ${results.map((result) => textOf(result.content)).join(', ')}`
  else
    content = `This is a simulated answer. You said: ${textOf(messages.findLast(({ role }) => role === 'user')?.content)}`
  if (max_completion_tokens !== undefined && tokens(content) > max_completion_tokens)
    return { content: content.slice(0, max_completion_tokens * 4), toolCalls: [], finish: 'length' }
  return { content, toolCalls: [], finish: 'stop' }
}

function usageOf(body: ChatBody, generations: Generation[]) {
  const prompt_tokens = tokens(JSON.stringify(body.messages))
  const completion_tokens = generations.reduce(
    (sum, { content, toolCalls }) => sum + tokens(content ?? JSON.stringify(toolCalls)),
    0,
  )
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}

const head = (body: ChatBody, object: string) => ({
  id: newId('chatcmpl-'),
  object,
  created: secondsNow(),
  model: body.model,
  service_tier: 'default',
  system_fingerprint: 'fp_simulated',
})

function whole(body: ChatBody, generations: Generation[]): FakeAnswer {
  const choices = generations.map(({ content, toolCalls, finish }, index) => ({
    index,
    message: {
      role: 'assistant',
      content,
      refusal: null,
      annotations: [],
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    },
    logprobs: null,
    finish_reason: finish,
  }))
  return json({ ...head(body, 'chat.completion'), choices, usage: usageOf(body, generations) })
}

/** The chunks of one choice, split like the vendor's: one word each, tool arguments in fragments. */
function* deltas({ content, toolCalls, finish }: Generation): Generator<[delta: object, finish: string | null]> {
  yield [{ role: 'assistant', content: content === null ? null : '', refusal: null }, null]
  for (const word of wordsOf(content ?? '')) yield [{ content: word }, null]
  for (const [index, { id, type, function: call, custom }] of toolCalls.entries()) {
    const part = (text: string) => (call ? { function: { arguments: text } } : { custom: { input: text } })
    const named = call
      ? { function: { name: call.name, arguments: '' } }
      : { custom: { name: custom!.name, input: '' } }
    yield [{ tool_calls: [{ index, id, type, ...named }] }, null]
    for (const fragment of (call?.arguments ?? custom!.input).match(/[^]{1,8}/g) ?? [])
      yield [{ tool_calls: [{ index, ...part(fragment) }] }, null]
  }
  yield [{}, finish]
}

async function* streamed(body: ChatBody, generations: Generation[], delayMs: number): AsyncGenerator<string> {
  const wanted = body.stream_options?.include_usage === true
  const envelope = head(body, 'chat.completion.chunk')
  const usage = wanted ? { usage: null } : {}
  const event = (fields: object): string =>
    `data: ${JSON.stringify({ ...envelope, ...fields, obfuscation: 'aN0fUsCatI0n' })}\n\n`
  for (const [index, generation] of generations.entries())
    for await (const [delta, finish_reason] of paced(deltas(generation), delayMs))
      yield event({ choices: [{ index, delta, logprobs: null, finish_reason }], ...usage })
  if (wanted) yield event({ choices: [], usage: usageOf(body, generations) })
  yield 'data: [DONE]\n\n'
}

/** The fake's POST /chat/completions. */
export function openaiChat({ body: given }: FakeRequest, delayMs: number): FakeAnswer {
  const refusal = openaiRefusal(given)
  if (refusal) return refused(refusal)
  const body = given as ChatBody
  const generations = Array.from({ length: body.n ?? 1 }, (_, index) => generate(body, index))
  if (!body.stream) return whole(body, generations)
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', ...requestId },
    body: streamed(body, generations, delayMs),
  }
}

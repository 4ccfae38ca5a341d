/**
 * The differences of servers with a compatible Chat Completions API, in one table. A rule goes by the address of the server, or by the model
 * where it holds wherever the model is served. Only what a server's reference or its refusals say is here; anything else is sent, and learnt
 * from a refusal (docs/decisions/044).
 * @module
 */
import type { ChatCompletionRequest, ChatMessage, Note } from '@turnpike/core'
import { extend } from '@turnpike/core/helpers'
import { formatInWords } from '../requests/format-in-words.js'
import { GO_ON } from '../requests/request-fields.js'
import { VIOLATION_NANO_USD } from './errors.js'
import { isOwnModel } from './models.js'

type Body = Record<string, unknown>

/** How a server, or what serves a model, differs from OpenAI's. */
interface Rules {
  /** The server's address; absent = any. */
  at?: RegExp
  /** Its models; absent = all. */
  of?: RegExp
  /** Parameters that it refuses, each with the default that is left out without a note. */
  refuses?: Record<string, unknown>
  /** Parameters that have another name there. */
  renames?: Record<string, string>
  /** `metadata` is refused without `store`. */
  storedMetadata?: true
  /** `json_schema` is refused, `json_object` is not. */
  noSchemas?: true
  /** The `name` of messages is refused. */
  noNames?: true
  /** Reasoning of earlier answers is refused. */
  noThoughts?: true
  /** Ids of tool calls have nine letters and digits. */
  shortIds?: true
  /** What becomes of an answer that comes last, which is refused: a turn that asks to go on follows it, or it is marked as one to be continued. */
  prefill?: 'asked' | 'marked'
  /** Documents are billed by their pages, besides tokens. */
  billsFiles?: true
  /** Seconds for which it bills each recording at least; absent = none. */
  leastSeconds?: number
  /** What it bills for a request that it refuses, in nano-US-dollars; absent = nothing. */
  refusalFee?: number
}

const olderLimit = { max_completion_tokens: 'max_tokens' }

const table: Rules[] = [
  // "The 'metadata' parameter is only allowed when 'store' is enabled."
  { at: /(^|\.)openai\.(azure\.)?com$/, storedMetadata: true },
  // Claude since 4.6 and Gemini since 3.6, wherever they are served: "does not support assistant message prefill".
  {
    of: /claude-([a-z]+-)?(4[-.]([6-9]|\d\d)|[5-9]|\d\d)(?!\d)|claude-(fable|mythos)|gemini-(3\.5-flash-lite|3\.([6-9]|\d\d)|[4-9])/,
    prefill: 'asked',
  },
  // OpenRouter's documentation, "PDF inputs": models that read no PDF get it as text, which `mistral-ocr` makes of it by default.
  {
    at: /(^|\.)openrouter\.ai$/,
    of: /^(?!anthropic\/claude-|google\/gemini-|openai\/gpt-(?:4o|4\.1|[5-9]))/,
    billsFiles: true,
  },
  { at: /(^|\.)x\.ai$/, refusalFee: VIOLATION_NANO_USD },
  // Mistral: its API reference, and "Extra inputs are not permitted" for all that it lacks. It reports usage in every stream.
  // "Expected last role User or Tool (or Assistant with prefix True)".
  {
    at: /(^|\.)mistral\.ai$/,
    prefill: 'marked',
    renames: { ...olderLimit, seed: 'random_seed' },
    refuses: {
      stream_options: undefined,
      store: false,
      logprobs: false,
      top_logprobs: undefined,
      logit_bias: undefined,
    },
  },
  // Its models check the ids wherever they are served: "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9".
  { of: /(^|[/:.])(open-)?(mistral|mixtral|ministral|magistral|codestral|devstral|pixtral)/i, shortIds: true },
  // DeepSeek: "This response_format type is unavailable now"; its reference has `max_tokens` only.
  { at: /(^|\.)deepseek\.com$/, renames: olderLimit, noSchemas: true },
  // Groq's pages on compatibility and on speech to text: "Minimum Billed Length: 10 seconds".
  {
    at: /(^|\.)groq\.com$/,
    refuses: { logprobs: false, top_logprobs: undefined, logit_bias: undefined },
    noNames: true,
    noThoughts: true,
    leastSeconds: 10,
  },
  { at: /(^|\.)cerebras\.ai$/, noThoughts: true },
  // Grok, by its own and others' servers: "does not support parameter presencePenalty", also for 0.
  { of: /(^|\/)grok-([4-9]|\d\d)/, refuses: { frequency_penalty: 0, presence_penalty: 0 } },
  // Ollama reads the older name of the limit only.
  { at: /:11434$/, renames: olderLimit },
]

/** The rules for a model at an address. */
export type RulesOf = (model: string) => Rules

/** The rules of the server at an address. */
export function rulesAt(baseURL: string): RulesOf {
  const host = /^https?:\/\/([^/?#]*)/i.exec(baseURL)?.[1]?.toLowerCase() ?? ''
  const known = table.filter(({ at }) => !at || at.test(host))
  const ofModels = known.filter(({ of }) => of)
  const ofServer: Rules = Object.assign({}, ...known.filter(({ of }) => !of))
  return (model) => {
    const found = ofModels.filter(({ of }) => of!.test(model))
    return found.length === 0 ? ofServer : Object.assign({}, ofServer, ...found)
  }
}

/** Nine letters and digits that always stand for the same id. */
function shortId(id: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id
  // Two hashes of 32 bits (FNV-1a), because one would let ids of one long history meet.
  let [a, b] = [0x811c9dc5, 0x01000193]
  for (let i = 0; i < id.length; i++) {
    a = Math.imul(a ^ id.charCodeAt(i), 0x01000193)
    b = Math.imul(b ^ id.charCodeAt(i), 0x85ebca6b)
  }
  return ((a >>> 0) * 2 ** 14 + (b >>> 18)).toString(36).padStart(9, '0').slice(-9)
}

/** Fits the messages to a server. @returns the messages themselves where nothing is to be changed */
function fitMessages(messages: ChatMessage[], model: string, rules: Rules, notes: Note[]): ChatMessage[] {
  const { noNames, shortIds } = rules
  // Only OpenAI's own models have the role; others' templates and servers do not, gpt-oss beside them by its server.
  const renamed = !isOwnModel(model) && messages.some(({ role }) => role === 'developer')
  const named = noNames && messages.some(({ name }) => name !== undefined)
  if (!renamed && !named && !shortIds) return messages
  if (named) notes.push({ field: 'messages.name', action: 'dropped' })
  return messages.map((message): ChatMessage => {
    const more: Body = {}
    if (renamed && message.role === 'developer') more['role'] = 'system'
    if (named && message.name !== undefined) more['name'] = undefined
    if (shortIds && message.role === 'assistant' && message.tool_calls)
      more['tool_calls'] = message.tool_calls.map((call) => extend(call, { id: shortId(call.id) }))
    if (shortIds && message.role === 'tool') more['tool_call_id'] = shortId(message.tool_call_id)
    return Object.keys(more).length === 0 ? message : (extend(message, more) as ChatMessage)
  })
}

/** Fits a conversation that ends with an answer. @returns the messages themselves where nothing is to be changed */
function fitEnd(messages: ChatMessage[], { prefill }: Rules, notes: Note[]): ChatMessage[] {
  const at = messages.findLastIndex(({ role }) => role !== 'system' && role !== 'developer')
  const last = messages[at]
  if (!prefill || last?.role !== 'assistant' || last.tool_calls?.length) return messages
  if (prefill === 'marked') return messages.with(at, extend(last, { prefix: true }))
  notes.push({ field: 'messages', action: 'emulated' })
  return [...messages, { role: 'user', content: GO_ON }]
}

/** Fits the messages and the format of the answer to a server. @param notes receives what is dropped or changed */
export function fitContent(request: ChatCompletionRequest, rules: Rules, notes: Note[]): ChatCompletionRequest {
  const { model } = request
  const format = request['response_format'] as { type?: unknown } | undefined
  const told = rules.noSchemas && format?.type === 'json_schema'
  if (told) notes.push({ field: 'response_format', action: 'emulated' })
  const fitted = told ? formatInWords(request, { type: 'json_object' }) : request
  const messages = fitEnd(fitMessages(fitted.messages, model, rules, notes), rules, notes)
  return messages === fitted.messages ? fitted : extend(fitted, { messages })
}

/** Fits the parameters of a request to a server. @param body the copy that is sent @param notes receives what is dropped */
export function fitNames(body: Body, { refuses, renames, storedMetadata }: Rules, notes: Note[]): void {
  if (storedMetadata && body['metadata'] !== undefined && body['store'] !== true) {
    notes.push({ field: 'metadata', action: 'dropped' })
    body['metadata'] = undefined
  }
  for (const field in refuses) {
    const value = body[field]
    if (value === undefined) continue
    // Nobody loses anything by `stream_options`, which are ours.
    if (value !== refuses[field] && field !== 'stream_options') notes.push({ field, action: 'dropped' })
    body[field] = undefined
  }
  for (const field in renames) {
    const value = body[field]
    if (value === undefined) continue
    body[renames[field]!] ??= value
    body[field] = undefined
  }
}

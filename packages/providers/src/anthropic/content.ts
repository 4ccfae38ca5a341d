import type { ChatCompletionRequest, ChatMessage, ContentPart } from '@turnpike/core'
import { append, fromBase64, jsonCount } from '@turnpike/core/helpers'
import { invalid, unsupported } from '@turnpike/core/internal'
import { parseDataUrl } from '../requests/data-url.js'
import { GO_ON, parseArguments } from '../requests/request-fields.js'
import { openCalls } from '../requests/open-calls.js'
import { toolIds } from '../answers/tool-ids.js'
import { thoughtsOf } from './thoughts.js'

/** A content block of the Messages API. */
export type Block = { type: string } & Record<string, unknown>

/** A message of the Messages API. The API requires the `results` of tools before all other blocks. */
interface Turn {
  role: 'user' | 'assistant'
  results: Block[]
  blocks: Block[]
}

/** A conversation in the form of the Messages API: a separate system prompt and alternating turns. */
export interface Conversation {
  system: Block[]
  messages: { role: 'user' | 'assistant'; content: Block[] }[]
  /** Names of the tools called in the history. */
  called: Set<string>
  /** Whether the answer continues an assistant turn that does not begin with a thought, because tool results or an assistant message come last. Such a turn cannot resume thinking with a budget. */
  continuesTurn: boolean
  /** Fields of messages and parts that the API does not support. */
  dropped: Set<string>
  /** Whether a user turn was added: the system messages, because there are no other messages, or one that asks to go on. */
  emulated: boolean
  /** The fields of the messages that have thoughts among their blocks. */
  thoughtFields: Set<string>
}

const imageTypes = ['image/jpeg', 'image/png', 'image/gif', 'image/webp']

/** The `cache_control` of a part, message or call. Undefined fields are not sent. */
const cached = (part: Record<string, unknown>) => ({ cache_control: part['cache_control'] })

/** A 400 for content that Claude does not support. */
export const refused = (what: string) => unsupported(`Claude does not take ${what}`)

/** Whether a character is a control, of which JSON makes six characters each; those that lay out a text are none. */
const isControl = (code: number): boolean =>
  code < 0x20 ? code !== 0x09 && code !== 0x0a && code !== 0x0c && code !== 0x0d : code >= 0x7f && code < 0xa0

/** Decodes base64 to text. @throws ApiError 400 for what is none: more than every tenth character is a control. A text has some, such as the escapes of a terminal */
function toText(data: string): string {
  let text: string
  try {
    text = new TextDecoder().decode(fromBase64(data))
  } catch {
    throw invalid('A data URL is malformed')
  }
  // Counted, because a pattern takes a hundred times as long where controls and letters alternate.
  let left = text.length / 10
  for (let at = 0; at < text.length; at++)
    if (isControl(text.charCodeAt(at)) && --left < 0) throw invalid('A document of text has other data')
  return text
}

/** An image or document block: by the media type of a data URL, otherwise by the type of the part; the provider fetches other URLs. */
function mediaBlock(url: string, called: 'image' | 'document', extra: object, title?: unknown): Block {
  const block = (type: typeof called, source: object): Block => ({
    type,
    source,
    title: type === 'image' ? undefined : title,
    ...extra,
  })
  const media = parseDataUrl(url)
  if (!media) {
    if (url.startsWith('https://')) return block(called, { type: 'url', url })
    throw invalid('Only https and data URLs are accepted')
  }
  const { type: media_type, data } = media
  const source = { type: 'base64', media_type, data }
  if (imageTypes.includes(media_type)) return block('image', source)
  if (media_type === 'application/pdf') return block('document', source)
  if (!media_type.startsWith('text/')) throw refused(`${media_type} content`)
  return block('document', { type: 'text', media_type: 'text/plain', data: toText(data) })
}

/** Converts the parts of a message to blocks. Blank text is omitted, because the API rejects it. */
function toBlocks(content: string | ContentPart[], dropped: Set<string>): Block[] {
  const blocks: Block[] = []
  for (const part of typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content) {
    const extra = cached(part)
    switch (part.type) {
      case 'text':
      case 'refusal': {
        const text = part.type === 'text' ? part.text : part.refusal
        if (text.trim() !== '') blocks.push({ type: 'text', text, ...extra })
        break
      }
      case 'image_url': {
        const { url, detail } = part.image_url
        if (detail && detail !== 'auto') dropped.add('messages.content.image_url.detail')
        blocks.push(mediaBlock(url, 'image', extra))
        break
      }
      case 'file':
      case 'document':
      case 'document_url': {
        const given = part[part.type]
        const { file_data, url, filename } = (typeof given === 'string' ? { url: given } : (given ?? {})) as Record<
          string,
          unknown
        >
        const source = file_data ?? url
        if (typeof source !== 'string') throw refused(`a ${part.type} without data and URL`)
        blocks.push(mediaBlock(source, 'document', extra, filename ?? part['title']))
        break
      }
      default:
        throw refused(`${part.type} content`)
    }
  }
  return blocks
}

/** Applies the `cache_control` of a message to its last block. */
function marked(blocks: Block[], message: Record<string, unknown>): Block[] {
  const last = blocks.at(-1)
  if (last) last['cache_control'] ??= message['cache_control']
  return blocks
}

/** Converts the content of a tool message. The last `cache_control` is set on the result, because the API rejects it within. */
function toResult(message: Extract<ChatMessage, { role: 'tool' }>, id: string, dropped: Set<string>): Block {
  const { content } = message
  const result: Block = { type: 'tool_result', tool_use_id: id, content, ...cached(message) }
  if (typeof content === 'string') return result
  for (const part of content) if (part['cache_control']) result['cache_control'] = part['cache_control']
  result['content'] = toBlocks(content, dropped).map((block) => ({ ...block, cache_control: undefined }))
  return result
}

const isResult = ({ content }: { content: Block[] }): boolean => content[0]?.type === 'tool_result'

/** Whether a block is a thought. */
export const isThought = (block: Block | undefined): boolean =>
  block?.type === 'thinking' || block?.type === 'redacted_thinking'

/** The first block of the assistant turn that tool results continue. A turn has all calls and results since the last message of the user. */
function openingOf(messages: Conversation['messages']): Block | undefined {
  const asked = messages.findLastIndex((message) => message.role === 'user' && !isResult(message))
  return messages[asked + 1]?.content[0]
}

/**
 * Converts the messages of a request.
 * @param prefill whether the model continues an assistant message that comes last
 * @throws ApiError 400 for content that the Messages API does not support
 */
export function toConversation(request: ChatCompletionRequest, prefill: boolean): Conversation {
  const system: Block[] = request.system ? toBlocks(request.system, new Set()) : []
  const turns: Turn[] = []
  const toId = toolIds()
  const calls = openCalls<string>()
  const called = new Set<string>()
  const dropped = new Set<string>()
  const thoughtFields = new Set<string>()

  const turn = (role: Turn['role']): Turn => {
    const last = turns.at(-1)
    if (last?.role === role) return last
    const next: Turn = { role, results: [], blocks: [] }
    turns.push(next)
    return next
  }

  const ofArguments = jsonCount()
  const addAssistant = (message: Extract<ChatMessage, { role: 'assistant' }>): void => {
    const said = toBlocks(message.content ?? '', dropped)
    if (typeof message['refusal'] === 'string') append(said, toBlocks(message['refusal'], dropped))
    if (message['audio']) throw refused('audio of an earlier answer')
    const { thoughts, field } = thoughtsOf(message)
    const made = message.tool_calls ?? []
    // A message cannot end with a thought.
    const kept = said.length + made.length > 0 ? thoughts : []
    if (field) (kept.length > 0 ? thoughtFields : dropped).add(field)
    const before = new Map<unknown, Block[]>(made.map(({ id }) => [id, []]))
    const blocks: Block[] = []
    for (const thought of kept) (before.get(thought.before) ?? blocks).push(thought.block)
    append(blocks, said)
    for (const call of made) {
      if (call.type === 'custom') throw refused('custom tools')
      const { name, arguments: text } = call.function
      called.add(name)
      const id = toId(call.id)
      calls.add(call.id, id)
      append(blocks, before.get(call.id)!.splice(0))
      blocks.push({ type: 'tool_use', id, name, input: parseArguments(name, text, ofArguments), ...cached(call) })
    }
    append(turn('assistant').blocks, marked(blocks, message))
  }

  for (const message of request.messages) {
    if (message.name && message.role !== 'function') dropped.add('messages.name')
    // Answers of Claude have no images.
    if (message.role === 'assistant' && message['images']) dropped.add('messages.images')
    switch (message.role) {
      case 'system':
      case 'developer':
        append(system, marked(toBlocks(message.content, dropped), message))
        break
      case 'user':
        append(turn('user').blocks, marked(toBlocks(message.content, dropped), message))
        break
      case 'assistant':
        addAssistant(message)
        break
      case 'tool': {
        const { tool_call_id } = message
        const id = calls.answer(tool_call_id)
        if (id === undefined) throw invalid(`No tool call "${tool_call_id}" waits for a result`)
        turn('user').results.push(toResult(message, id, dropped))
        break
      }
      case 'function':
        throw refused('function messages')
    }
  }

  if (system.some(({ type }) => type !== 'text')) throw refused('more than text in system messages')
  const said = turns.map(({ role, results, blocks }) => ({ role, content: [...results, ...blocks] }))
  // Without the user turn, the model would continue its own last message.
  if (said.some(({ role, content }) => role === 'user' && content.length === 0))
    throw invalid('A user message has no content')
  const messages = said.filter(({ content }) => content.length > 0)
  // The API rejects an empty list of messages, even with a system prompt.
  const alone = messages.length === 0
  if (alone) messages.push({ role: 'user', content: system.splice(0) })
  const last = messages.at(-1)!
  if (last.content.length === 0) throw invalid('The messages have no content')
  const end = last.content.at(-1)!
  const goesOn = last.role === 'assistant' && end.type === 'text'
  if (goesOn && !prefill) messages.push({ role: 'user', content: [{ type: 'text', text: GO_ON }] })
  // The API rejects trailing white space in an assistant message that it continues.
  else if (goesOn) end['text'] = (end['text'] as string).trimEnd()
  return {
    system,
    messages,
    called,
    continuesTurn: last.role === 'assistant' || (isResult(last) && !isThought(openingOf(messages))),
    dropped,
    emulated: alone || (goesOn && !prefill),
    thoughtFields,
  }
}

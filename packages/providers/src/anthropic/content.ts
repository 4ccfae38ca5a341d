import type { ChatCompletionRequest, ChatMessage, ContentPart } from '@turnpike/core'
import { invalid, unsupported } from '@turnpike/core/internal'
import { fromBase64 } from '../base64.js'
import { parseDataUrl } from '../data-url.js'
import { parseArguments } from '../request-fields.js'
import { openCalls } from '../open-calls.js'
import { toolId } from '../tool-ids.js'

/** A content block of the Messages API. */
export type Block = { type: string } & Record<string, unknown>

/** A message of the Messages API; `results` come first in it, as the API demands. */
interface Turn {
  role: 'user' | 'assistant'
  results: Block[]
  blocks: Block[]
}

/** A conversation as the Messages API has it: system apart, turns in alternation. */
export interface Conversation {
  system: Block[]
  messages: { role: 'user' | 'assistant'; content: Block[] }[]
  /** Names of the tools that were called. */
  called: Set<string>
  /** Whether the answer goes on with a turn that has begun: its calls' results, or its words, come last. It cannot go on thinking where OpenAI's form kept no thoughts. */
  goesOn: boolean
  /** Fields of messages and parts that the API has not. */
  dropped: Set<string>
  /** Whether system messages stand as a user turn, because there are no others. */
  emulated: boolean
}

const imageTypes = ['image/jpeg', 'image/png', 'image/gif', 'image/webp']

/** What the caller may set of any part for this family. Undefined fields are not sent. */
export const cached = (part: Record<string, unknown>) => ({ cache_control: part['cache_control'] })

/** 400 for what the family has not. */
export const refused = (what: string) => unsupported(`Claude does not take ${what}`)

/** Text from bytes in base64. */
function toText(data: string): string {
  try {
    return new TextDecoder().decode(fromBase64(data))
  } catch {
    throw invalid('A data URL is malformed')
  }
}

/** An image or a document: by its type where the URL holds it, else what the part calls it, which the provider then fetches. */
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

/** The parts of a message as blocks; blank text, which the API refuses, is left out. */
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

/** The blocks of a message; what is set of the message is set of the last of them. */
function marked(blocks: Block[], message: Record<string, unknown>): Block[] {
  const last = blocks.at(-1)
  if (last) last['cache_control'] ??= message['cache_control']
  return blocks
}

/** The messages of a request. @throws ApiError 400 for what the Messages API cannot be told */
export function toConversation(request: ChatCompletionRequest): Conversation {
  const system: Block[] = request.system ? toBlocks(request.system, new Set()) : []
  const turns: Turn[] = []
  const ids = new Set<string>()
  const calls = openCalls<string>()
  const called = new Set<string>()
  const dropped = new Set<string>()

  const turn = (role: Turn['role']): Turn => {
    const last = turns.at(-1)
    if (last?.role === role) return last
    const next: Turn = { role, results: [], blocks: [] }
    turns.push(next)
    return next
  }

  const addAssistant = (message: Extract<ChatMessage, { role: 'assistant' }>): void => {
    const blocks = toBlocks(message.content ?? '', dropped)
    if (typeof message['refusal'] === 'string') blocks.push(...toBlocks(message['refusal'], dropped))
    if (message['audio']) throw refused('audio of an earlier answer')
    for (const call of message.tool_calls ?? []) {
      if (call.type === 'custom') throw refused('custom tools')
      const { name, arguments: text } = call.function
      called.add(name)
      const id = toolId(call.id, ids)
      calls.add(call.id, id)
      blocks.push({ type: 'tool_use', id, name, input: parseArguments(name, text) })
    }
    turn('assistant').blocks.push(...marked(blocks, message))
  }

  for (const message of request.messages) {
    if (message.name && message.role !== 'function') dropped.add('messages.name')
    switch (message.role) {
      case 'system':
      case 'developer':
        system.push(...marked(toBlocks(message.content, dropped), message))
        break
      case 'user':
        turn('user').blocks.push(...marked(toBlocks(message.content, dropped), message))
        break
      case 'assistant':
        addAssistant(message)
        break
      case 'tool': {
        const { content, tool_call_id } = message
        const id = calls.answer(tool_call_id)
        if (id === undefined) throw invalid(`No tool call "${tool_call_id}" waits for a result`)
        const answer = typeof content === 'string' ? content : toBlocks(content, dropped)
        turn('user').results.push({ type: 'tool_result', tool_use_id: id, content: answer, ...cached(message) })
        break
      }
      case 'function':
        throw refused('function messages')
    }
  }

  if (system.some(({ type }) => type !== 'text')) throw refused('more than text in system messages')
  const said = turns.map(({ role, results, blocks }) => ({ role, content: [...results, ...blocks] }))
  // Without it the assistant would go on with its own words, which nobody asked for.
  if (said.some(({ role, content }) => role === 'user' && content.length === 0))
    throw invalid('A user message has no content')
  const messages = said.filter(({ content }) => content.length > 0)
  // The API refuses a conversation without messages, system or not.
  const emulated = messages.length === 0
  if (emulated) messages.push({ role: 'user', content: system.splice(0) })
  const last = messages.at(-1)!
  if (last.content.length === 0) throw invalid('The messages have no content')
  const end = last.content.at(-1)!
  // What the assistant is to go on with: the API refuses white space at its end.
  if (end.type === 'text' && last.role === 'assistant') end['text'] = (end['text'] as string).trimEnd()
  return {
    system,
    messages,
    called,
    goesOn: last.role === 'assistant' || last.content[0]?.type === 'tool_result',
    dropped,
    emulated,
  }
}

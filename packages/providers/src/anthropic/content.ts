import type { ChatCompletionRequest, ChatMessage, ContentPart } from '@turnpike/core'
import type { Media } from '../data-url.js'
import { parseDataUrl } from '../data-url.js'
import { invalid, unsupported } from '../invalid.js'
import { parseArguments } from '../request-fields.js'
import { toolIds } from '../tool-ids.js'

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
  /** Whether the last thing said is a call that waits for its result: such a turn cannot be gone on with thinking that it began without. */
  answersCalls: boolean
  /** Fields of messages and parts that the API has not. */
  dropped: Set<string>
}

const imageTypes = ['image/jpeg', 'image/png', 'image/gif', 'image/webp']

/** `cache_control` of a part, which the caller may set for this family. */
const cached = (part: Record<string, unknown>): { cache_control?: unknown } =>
  typeof part['cache_control'] === 'object' && part['cache_control'] !== null
    ? { cache_control: part['cache_control'] }
    : {}

const isBlank = (text: string): boolean => text.trim() === ''

/** Text from bytes in base64. */
function toText(data: string): string {
  let bytes: string
  try {
    bytes = atob(data)
  } catch {
    throw invalid('A data URL is not base64')
  }
  return new TextDecoder().decode(Uint8Array.from(bytes, (character) => character.charCodeAt(0)))
}

function documentOf({ type, data }: Media): object {
  if (type === 'application/pdf') return { type: 'base64', media_type: type, data }
  if (type.startsWith('text/')) return { type: 'text', media_type: 'text/plain', data: toText(data) }
  throw unsupported(`Claude takes PDF and text documents, not ${type}`)
}

/** An address that the provider fetches itself. */
function remote(url: string): { type: 'url'; url: string } {
  if (!url.startsWith('https://')) throw invalid('Only https and data URLs are accepted')
  return { type: 'url', url }
}

function imageBlock(url: string, extra: object): Block {
  const media = parseDataUrl(url)
  if (!media) return { type: 'image', source: remote(url), ...extra }
  if (media.type === 'application/pdf') return { type: 'document', source: documentOf(media), ...extra }
  if (!imageTypes.includes(media.type))
    throw unsupported(`Claude takes images as ${imageTypes.join(', ')}, not ${media.type}`)
  return { type: 'image', source: { type: 'base64', media_type: media.type, data: media.data }, ...extra }
}

function documentBlock(url: string, title: unknown, extra: object): Block {
  const media = parseDataUrl(url)
  if (media && imageTypes.includes(media.type)) return imageBlock(url, extra)
  const source = media ? documentOf(media) : remote(url)
  return { type: 'document', source, ...(typeof title === 'string' && { title }), ...extra }
}

/** The parts of a message as blocks; blank text, which the API refuses, is left out. */
function toBlocks(content: string | ContentPart[], dropped: Set<string>): Block[] {
  if (typeof content === 'string') return isBlank(content) ? [] : [{ type: 'text', text: content }]
  const blocks: Block[] = []
  for (const part of content) {
    const extra = cached(part)
    switch (part.type) {
      case 'text':
        if (!isBlank(part.text)) blocks.push({ type: 'text', text: part.text, ...extra })
        break
      case 'refusal':
        if (!isBlank(part.refusal)) blocks.push({ type: 'text', text: part.refusal })
        break
      case 'image_url': {
        const { url, detail } = part.image_url
        if (detail && detail !== 'auto') dropped.add('messages.content.image_url.detail')
        blocks.push(imageBlock(url, extra))
        break
      }
      case 'file': {
        const { file_data, filename } = (part['file'] ?? {}) as { file_data?: unknown; filename?: unknown }
        if (typeof file_data !== 'string') throw unsupported('Claude takes files as file_data, not by file_id')
        blocks.push(documentBlock(file_data, filename, extra))
        break
      }
      case 'document':
      case 'document_url': {
        const given = part['document_url'] ?? part['document']
        const url = typeof given === 'string' ? given : (given as { url?: unknown } | undefined)?.url
        if (typeof url !== 'string') throw invalid(`A ${part.type} part needs a url`)
        blocks.push(documentBlock(url, part['title'], extra))
        break
      }
      default:
        throw unsupported(`Claude does not take ${part.type} content`)
    }
  }
  return blocks
}

/** Right-trims what the assistant is to go on with: the API refuses white space at its end. */
function trimPrefill(blocks: Block[]): void {
  const last = blocks.at(-1)
  if (last?.type === 'text') last['text'] = (last['text'] as string).trimEnd()
}

/** The messages of a request. @throws ApiError 400 for what the Messages API cannot be told */
export function toConversation(request: ChatCompletionRequest): Conversation {
  const system: Block[] = request.system ? toBlocks(request.system, new Set()) : []
  const turns: Turn[] = []
  const ids = toolIds()
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
    const { blocks } = turn('assistant')
    if (message.content) blocks.push(...toBlocks(message.content, dropped))
    if (typeof message['refusal'] === 'string') blocks.push(...toBlocks(message['refusal'], dropped))
    if (message['audio']) throw unsupported('Claude does not take audio of an earlier answer')
    for (const call of message.tool_calls ?? []) {
      if (call.type === 'custom') throw unsupported('Claude has no custom tools')
      const { name, arguments: text } = call.function
      called.add(name)
      blocks.push({ type: 'tool_use', id: ids.call(call.id), name, input: parseArguments(name, text) })
    }
  }

  for (const message of request.messages) {
    if (message.name && message.role !== 'function') dropped.add('messages.name')
    switch (message.role) {
      case 'system':
      case 'developer':
        system.push(...toBlocks(message.content, dropped))
        break
      case 'user':
        turn('user').blocks.push(...toBlocks(message.content, dropped))
        break
      case 'assistant':
        addAssistant(message)
        break
      case 'tool': {
        const { content, tool_call_id } = message
        const id = ids.result(tool_call_id)
        if (id === undefined) throw invalid(`No tool call has the id "${tool_call_id}" that a tool message answers`)
        const answer = typeof content === 'string' ? content : toBlocks(content, dropped)
        turn('user').results.push({ type: 'tool_result', tool_use_id: id, content: answer, ...cached(message) })
        break
      }
      case 'function':
        throw invalid('A function message needs a call that it answers')
    }
  }

  if (system.some(({ type }) => type !== 'text')) throw unsupported('Claude takes only text in system messages')
  const said = turns.map(({ role, results, blocks }) => ({ role, content: [...results, ...blocks] }))
  // Without it the assistant would go on with its own words, which nobody asked for.
  if (said.some(({ role, content }) => role === 'user' && content.length === 0))
    throw invalid('A user message has no content')
  const messages = said.filter(({ content }) => content.length > 0)
  if (messages.length === 0) throw invalid('The messages have no content besides system messages')
  const last = messages.at(-1)!
  if (last.role === 'assistant') trimPrefill(last.content)
  return { system, messages, called, answersCalls: last.content[0]?.type === 'tool_result', dropped }
}

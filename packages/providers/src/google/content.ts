import type { ChatCompletionRequest, ChatMessage, ContentPart } from '@turnpike/core'
import { invalid, unsupported } from '@turnpike/core/internal'
import { parseDataUrl } from '../data-url.js'
import { parseJson } from '../json.js'
import { openCalls } from '../open-calls.js'
import { parseArguments } from '../request-fields.js'

/** A part of a content, as it is sent. */
export interface Part {
  text?: string
  inlineData?: { mimeType: string; data: string }
  fileData?: { fileUri: string }
  functionCall?: { name: string; args: object; id: string | undefined }
  functionResponse?: { name: string; response: object; id: string | undefined }
  thoughtSignature?: string
}

export interface Content {
  role: 'user' | 'model'
  parts: Part[]
}

/** A conversation as Gemini has it: system apart, results of tools in a content of their own. */
export interface Conversation {
  system: Part[]
  contents: Content[]
  /** Fields of messages and parts that Gemini has not. */
  dropped: Set<string>
  /** Whether there is a user turn that no user message made. */
  emulated: boolean
}

/** What stands for the signature of a call that was not made by Gemini 3, which refuses calls without one. */
const UNSIGNED = 'skip_thought_signature_validator'

/** A content with the results of its calls, which follow it, each at the position of its call. */
interface Turn extends Content {
  results: Part[]
}

/** A call of the conversation, for the result that names it by its id. */
interface Call {
  turn: Turn
  name: string
  /** Its place among all calls. */
  position: number
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isTaken = (type: string): boolean =>
  type === 'application/pdf' || (/^(image|audio|video|text)\//.test(type) && type !== 'image/svg+xml')

export type ImagePart = Extract<ContentPart, { type: 'image_url' }>

/** Whether Google gets what is at an address by itself: files of its Files API, and videos of YouTube. */
function isGoogles(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname, pathname } = new URL(url)
  if (protocol !== 'https:') return false
  if (hostname === 'generativelanguage.googleapis.com') return pathname.includes('/files/')
  // Other hosts of YouTube have pictures.
  return /^(youtu\.be|((www|m|music)\.)?youtube\.com)$/.test(hostname)
}

/** An image that Gemini does not get by itself. */
export const isRemote = (part: ContentPart): part is ImagePart =>
  part.type === 'image_url' &&
  (part as ImagePart).image_url.url.startsWith('https://') &&
  !isGoogles((part as ImagePart).image_url.url)

/** Gemini's names of types that have others as well. */
const aliases: Record<string, string> = { 'audio/mpeg': 'audio/mp3', 'audio/x-wav': 'audio/wav' }

function inline(type: string, data: string): Part {
  const mimeType = aliases[type] ?? type
  if (!isTaken(mimeType)) throw unsupported(`Gemini does not take ${mimeType}`)
  return { inlineData: { mimeType, data } }
}

function mediaPart(url: string): Part {
  const media = parseDataUrl(url)
  if (media) return inline(media.type, media.data)
  if (isGoogles(url)) return { fileData: { fileUri: url } }
  if (url.startsWith('https://')) throw unsupported('Gemini reads no https URLs but those of Google')
  throw invalid('Only https and data URLs are accepted')
}

/** Media in other parts than images: `{data, format}`, a url, or `{url}` under the name of the type. */
function otherPart(part: ContentPart): Part {
  const value = (part as Record<string, unknown>)[part.type]
  const { url, data, format } = (typeof value === 'string' ? { url: value } : (value ?? {})) as Record<string, unknown>
  if (typeof url === 'string') return mediaPart(url)
  if ((part.type === 'input_audio' || part.type === 'audio') && typeof data === 'string' && typeof format === 'string')
    return inline(`audio/${format.toLowerCase()}`, data)
  throw invalid(`A ${part.type} part needs ${part.type === 'input_audio' ? 'data and a format' : 'a url'}`)
}

function filePart({ file_data, file_id }: { file_data?: unknown; file_id?: unknown }): Part {
  if (typeof file_data === 'string') return mediaPart(file_data)
  if (typeof file_id === 'string' && isGoogles(file_id)) return mediaPart(file_id)
  throw unsupported("Gemini takes files as file_data, or by the URI of Google's Files API as file_id")
}

/** The parts of a message; empty text is left out. */
function toParts(content: string | ContentPart[], dropped: Set<string>): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }]
  return content.flatMap((part): Part | Part[] => {
    if (part['cache_control']) dropped.add('messages.content.cache_control')
    switch (part.type) {
      case 'text':
        return part.text === '' ? [] : { text: part.text }
      case 'refusal':
        return part.refusal === '' ? [] : { text: part.refusal }
      case 'image_url': {
        const { url, detail } = part.image_url
        if (detail && detail !== 'auto') dropped.add('messages.content.image_url.detail')
        // Without `remoteContent` it has been refused; with it, it has been fetched before anything is sent.
        return isRemote(part) ? { fileData: { fileUri: url } } : mediaPart(url)
      }
      case 'file':
        return filePart((part['file'] ?? {}) as object)
      default:
        return otherPart(part)
    }
  })
}

/** The texts of a message that can hold nothing else. */
const textsOf = (content: string | ContentPart[], role: string): string[] =>
  typeof content === 'string'
    ? [content]
    : content.map((part) => {
        if (part.type === 'text') return part.text
        throw unsupported(`Gemini takes only text in ${role} messages, not ${part.type}`)
      })

/** The result of a tool as an object: as it is, if it is one. Gemini takes every `$ref` within for the name of a file that comes with it. */
function toResult(text: string): object {
  const value = parseJson(text)
  return isObject(value) && !text.includes('"$ref"') ? value : { output: text }
}

/** Gemini's own ids go back to it. Those that the gateway or another family made do not: Vertex AI refuses them. */
const upstreamId = (id: string): string | undefined => (/^(call_|toolu_)/.test(id) ? undefined : id || undefined)

function signatureOf(call: Record<string, unknown>): string | undefined {
  const extra = call['extra_content'] as { google?: { thought_signature?: unknown } | null } | null | undefined
  const signature = extra?.google?.thought_signature
  return typeof signature === 'string' && signature !== '' ? signature : undefined
}

/** The messages of a request. @throws ApiError 400 for what Gemini cannot be told */
export function toConversation(request: ChatCompletionRequest, needsSignatures: boolean): Conversation {
  const system: Part[] = request.system ? [{ text: request.system }] : []
  const turns: Turn[] = []
  const calls = openCalls<Call>()
  const dropped = new Set<string>()
  let position = 0

  const turnOf = (role: Content['role']): Turn => {
    const last = turns.at(-1)
    if (last?.role === role && last.results.length === 0) return last
    const next: Turn = { role, parts: [], results: [] }
    turns.push(next)
    return next
  }

  const addAssistant = (message: Extract<ChatMessage, { role: 'assistant' }>): void => {
    if (message['audio']) throw unsupported('Gemini does not take audio of an earlier answer')
    const turn = turnOf('model')
    if (message.content) turn.parts.push(...toParts(message.content, dropped))
    if (typeof message['refusal'] === 'string') turn.parts.push(...toParts(message['refusal'], dropped))
    for (const call of message.tool_calls ?? []) {
      if (call.type === 'custom') throw unsupported('Gemini has no custom tools')
      const { name, arguments: text } = call.function
      calls.add(call.id, { turn, name, position: position++ })
      const part: Part = { functionCall: { name, args: parseArguments(name, text), id: upstreamId(call.id) } }
      const signature = signatureOf(call)
      if (signature) part.thoughtSignature = signature
      turn.parts.push(part)
    }
  }

  const addResult = ({ tool_call_id, content }: Extract<ChatMessage, { role: 'tool' }>): void => {
    const call = calls.answer(tool_call_id)
    if (!call) throw invalid(`No tool call "${tool_call_id}" waits for a result`)
    const { turn, name, position } = call
    const response = toResult(textsOf(content, 'tool').join(''))
    turn.results[position] = { functionResponse: { name, response, id: upstreamId(tool_call_id) } }
  }

  for (const message of request.messages) {
    if (message.name && message.role !== 'function') dropped.add('messages.name')
    switch (message.role) {
      case 'system':
      case 'developer':
        for (const text of textsOf(message.content, message.role)) if (text) system.push({ text })
        break
      case 'user':
        turnOf('user').parts.push(...toParts(message.content, dropped))
        break
      case 'assistant':
        addAssistant(message)
        break
      case 'tool':
        addResult(message)
        break
      case 'function':
        throw invalid('A function message needs a call that it answers')
    }
  }
  // Gemini refuses a conversation without turns, system instruction or not, and one that begins with a call.
  const isEmpty = turns.length === 0
  if (isEmpty && system.length === 0) throw invalid('The messages have no content')
  const emulated = isEmpty || turns[0]!.parts.some(({ functionCall }) => functionCall)
  if (emulated) turns.unshift({ role: 'user', parts: isEmpty ? system.splice(0) : [{ text: ' ' }], results: [] })

  const contents = turns.flatMap(({ role, parts, results }): Content[] => {
    const first = needsSignatures ? parts.find(({ functionCall }) => functionCall) : undefined
    if (first) first.thoughtSignature ??= UNSIGNED
    const content: Content = { role, parts: parts.length > 0 ? parts : [{ text: '' }] }
    if (results.length === 0) return [content]
    return [content, { role: 'user', parts: Object.values(results) }]
  })
  return { system, contents, dropped, emulated }
}

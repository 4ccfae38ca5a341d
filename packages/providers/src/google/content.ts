import type { ChatCompletionRequest, ChatMessage, ContentPart } from '@turnpike/core'
import type { JsonCount } from '@turnpike/core/internal'
import { append, excess, invalid, isObject, JSON_DEPTH, jsonCount, unsupported } from '@turnpike/core/internal'
import { parseDataUrl } from '../data-url.js'
import { parseJson } from '../json.js'
import { openCalls } from '../open-calls.js'
import { parseArguments } from '../request-fields.js'

/** A part of a content in a request. */
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

/** A conversation in Gemini's form: a separate system instruction, and tool results in their own contents. */
export interface Conversation {
  system: Part[]
  contents: Content[]
  /** Fields of messages and parts that Gemini does not support. */
  dropped: Set<string>
  /** Whether a user turn was added that is not in the request. */
  emulated: boolean
}

/** The signature that Google documents for calls that Gemini 3 did not make itself; it rejects calls without one. */
const UNSIGNED = 'skip_thought_signature_validator'

/** A content with the results of its calls, indexed by the position of the call. They are sent in the next content. */
interface Turn extends Content {
  results: Part[]
}

/** A tool call, as needed to place its result. */
interface Call {
  turn: Turn
  name: string
  /** Its index among all calls of the conversation. */
  position: number
}

const isTaken = (type: string): boolean =>
  type === 'application/pdf' || (/^(image|audio|video|text)\//.test(type) && type !== 'image/svg+xml')

export type ImagePart = Extract<ContentPart, { type: 'image_url' }>

/** Whether Google resolves a URL itself: files of its Files API and YouTube videos. */
function isGoogles(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname, pathname } = new URL(url)
  if (protocol !== 'https:') return false
  if (hostname === 'generativelanguage.googleapis.com') return pathname.includes('/files/')
  // Other YouTube hosts serve images.
  return /^(youtu\.be|((www|m|music)\.)?youtube\.com)$/.test(hostname)
}

/** Whether a part is an image that Gemini does not fetch itself. */
export const isRemote = (part: ContentPart): part is ImagePart =>
  part.type === 'image_url' &&
  (part as ImagePart).image_url.url.startsWith('https://') &&
  !isGoogles((part as ImagePart).image_url.url)

/** Gemini's names of media types with several names. */
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

/** Converts audio, video and document parts: under the name of the type they have `{data, format}`, a URL or `{url}`. */
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

/** Converts the parts of a message. Empty text is omitted. */
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
        // This URL is never sent: without `remoteContent` it is rejected earlier, with it the image is inlined earlier. Only `preview` gets here.
        return isRemote(part) ? { fileData: { fileUri: url } } : mediaPart(url)
      }
      case 'file':
        return filePart((part['file'] ?? {}) as object)
      default:
        return otherPart(part)
    }
  })
}

/** The texts of a message that may contain only text. */
const textsOf = (content: string | ContentPart[], role: string, dropped: Set<string>): string[] =>
  typeof content === 'string'
    ? [content]
    : content.map((part) => {
        if (part['cache_control']) dropped.add('messages.content.cache_control')
        if (part.type === 'text') return part.text
        throw unsupported(`Gemini takes only text in ${role} messages, not ${part.type}`)
      })

/**
 * A tool result as an object. Text other than a JSON object is wrapped, and so are objects that are too deep or too many to be sent, and those with
 * `$ref`, which Gemini resolves as references to attached files.
 * @param count of the results of the whole request
 */
function toResult(text: string, count: JsonCount): object {
  const isJson = text.trimStart().startsWith('{') && !excess(text, JSON_DEPTH, count)
  const value = isJson ? parseJson(text) : undefined
  return isObject(value) && !text.includes('"$ref"') ? value : { output: text }
}

/** The id if Gemini created it. Ids of the gateway or of other families are omitted, because Vertex AI rejects them. */
const upstreamId = (id: string): string | undefined => (/^(call_|toolu_)/.test(id) ? undefined : id || undefined)

function signatureOf(call: Record<string, unknown>): string | undefined {
  const extra = call['extra_content'] as { google?: { thought_signature?: unknown } | null } | null | undefined
  const signature = extra?.google?.thought_signature
  return typeof signature === 'string' && signature !== '' ? signature : undefined
}

/** Converts the messages of a request. @throws ApiError 400 for content that Gemini does not support */
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

  const [ofArguments, ofResults] = [jsonCount(), jsonCount()]
  const addAssistant = (message: Extract<ChatMessage, { role: 'assistant' }>): void => {
    if (message['audio']) throw unsupported('Gemini does not take audio of an earlier answer')
    const turn = turnOf('model')
    if (message.content) append(turn.parts, toParts(message.content, dropped))
    if (typeof message['refusal'] === 'string') append(turn.parts, toParts(message['refusal'], dropped))
    for (const call of message.tool_calls ?? []) {
      if (call.type === 'custom') throw unsupported('Gemini has no custom tools')
      if (call['cache_control']) dropped.add('messages.tool_calls.cache_control')
      const { name, arguments: text } = call.function
      calls.add(call.id, { turn, name, position: position++ })
      const part: Part = {
        functionCall: { name, args: parseArguments(name, text, ofArguments), id: upstreamId(call.id) },
      }
      const signature = signatureOf(call)
      if (signature) part.thoughtSignature = signature
      turn.parts.push(part)
    }
  }

  const addResult = ({ tool_call_id, content }: Extract<ChatMessage, { role: 'tool' }>): void => {
    const call = calls.answer(tool_call_id)
    if (!call) throw invalid(`No tool call "${tool_call_id}" waits for a result`)
    const { turn, name, position } = call
    const response = toResult(textsOf(content, 'tool', dropped).join(''), ofResults)
    turn.results[position] = { functionResponse: { name, response, id: upstreamId(tool_call_id) } }
  }

  for (const message of request.messages) {
    if (message.name && message.role !== 'function') dropped.add('messages.name')
    if (message['cache_control']) dropped.add('messages.cache_control')
    switch (message.role) {
      case 'system':
      case 'developer':
        for (const text of textsOf(message.content, message.role, dropped)) if (text) system.push({ text })
        break
      case 'user':
        append(turnOf('user').parts, toParts(message.content, dropped))
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
  // Gemini rejects an empty list of contents, even with a system instruction, and contents that begin with a call.
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

import type { ChatCompletionRequest, ChatMessage, ContentPart } from '@turnpike/core'
import type { JsonCount } from '@turnpike/core/helpers'
import { append, excess, extend, isObject, jsonCount, markdownImage } from '@turnpike/core/helpers'
import { invalid, JSON_DEPTH, unsupported } from '@turnpike/core/internal'
import { parseDataUrl } from '../requests/data-url.js'
import { parseJson } from '../upstream/json.js'
import { openCalls } from '../requests/open-calls.js'
import { GO_ON, parseArguments } from '../requests/request-fields.js'
import type { Traits } from './models.js'
import { detailsOf, signatureOf, UNSIGNED } from './signatures.js'

/** A part of a content in a request. */
export interface Part {
  text?: string
  inlineData?: { mimeType: string; data: string }
  fileData?: { fileUri: string }
  functionCall?: { name: string; args: object; id: string | undefined }
  functionResponse?: { name: string; response: object; id: string | undefined; parts?: Part[] }
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

/** A content with the results of its calls, indexed by the position of the call. They are sent in the next content. */
interface Turn extends Content {
  results: Part[]
  /** What of the results Gemini does not take in them. It is sent as a content of the user, after the results. */
  media: Part[]
}

/** A tool call, as needed to place its result. */
interface Call {
  turn: Turn
  name: string
  /** As it is sent. */
  id: string | undefined
  /** Its index among all calls of the conversation. */
  position: number
}

/** The media types that a result may have, on Gemini 3 and later (reference of FunctionResponsePart). */
const inResults = /^(image\/(png|jpeg|webp)|application\/pdf|text\/plain)$/

const isTaken = (type: string): boolean =>
  type === 'application/pdf' || (/^(image|audio|video|text)\//.test(type) && type !== 'image/svg+xml')

export type ImagePart = Extract<ContentPart, { type: 'image_url' }>

/** What Google resolves itself: files of its Files API and YouTube videos. Other YouTube hosts serve images. */
const ofGoogle = [
  /^https:\/\/generativelanguage\.googleapis\.com\/([^?#]*\/)?files\//i,
  /^https:\/\/(youtu\.be|((www|m|music)\.)?youtube\.com)([/?#]|$)/i,
]
const isGoogles = (url: string): boolean => ofGoogle.some((one) => one.test(url))

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

/** The images of an earlier answer, in the form that this gateway and others give them. @throws ApiError 400 for any other */
export function imagesOf({ role, images }: ChatMessage): ImagePart[] {
  if (role !== 'assistant' || images === undefined || images === null) return []
  const isImage = (one: unknown): boolean =>
    isObject(one) && isObject(one['image_url']) && typeof one['image_url']['url'] === 'string'
  if (!Array.isArray(images) || !images.every(isImage)) throw invalid('images must be a list of image_url parts')
  return images.map((one: ImagePart) => extend(one, { type: 'image_url' as const }))
}

/** Most images in the texts of a request, which Google's reference allows of images in all (November 2026). In a text, they are a few bytes each. */
const MOST_IMAGES = 3_600

/**
 * The parts of an earlier answer, with its images at their place: those of a text are given as Markdown.
 * @param count of the images in the texts of the whole request
 * @throws ApiError 400 for too many
 */
function toAnswerParts(content: string | ContentPart[], dropped: Set<string>, count: { found: number }): Part[] {
  const given = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
  return given.flatMap((part): Part[] => {
    if (part.type !== 'text' || !part.text.includes('](data:image/')) {
      const parts = toParts([part], dropped)
      const signature = signatureOf(part)
      if (signature && parts[0]) parts[0].thoughtSignature = signature
      return parts
    }
    // Each second piece is the address of an image.
    const pieces = part.text.split(markdownImage, 2 * MOST_IMAGES + 3)
    count.found += (pieces.length - 1) / 2
    if (count.found > MOST_IMAGES) throw unsupported(`Gemini takes at most ${MOST_IMAGES} images in texts`)
    return pieces.flatMap((piece, at): Part[] =>
      at % 2 === 1 ? [mediaPart(piece)] : piece === '' ? [] : [{ text: piece }],
    )
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

/**
 * Puts the signatures of an answer on its parts: that of the message on its last text; those of `reasoning_details` on its images, in order, and
 * on its first text if there is one more of them than images, which is where the image models sign.
 */
function sign(parts: Part[], ofMessage: string | undefined, others: string[]): void {
  const images = parts.filter(({ inlineData, thoughtSignature }) => inlineData && !thoughtSignature)
  const texts = parts.filter(({ text }) => text !== undefined)
  const signed = others.length > images.length ? [texts[images.length > 0 ? 0 : texts.length - 1], ...images] : images
  for (const [at, data] of others.entries()) if (signed[at]) signed[at].thoughtSignature = data
  const last = texts.at(-1)
  if (ofMessage && last) last.thoughtSignature = ofMessage
}

/** Signs what Gemini 3 rejects without: the first call of a turn, each image; and of image models what a turn begins with. */
function signMissing(parts: Part[], { image }: Traits): void {
  const call = parts.find(({ functionCall }) => functionCall)
  const first = image ? parts[0] : undefined
  for (const part of [first, call, ...parts.filter(({ inlineData }) => inlineData)])
    if (part) part.thoughtSignature ??= UNSIGNED
}

/** Converts the messages of a request. @throws ApiError 400 for content that Gemini does not support */
export function toConversation(request: ChatCompletionRequest, traits: Traits): Conversation {
  const system: Part[] = request.system ? [{ text: request.system }] : []
  const turns: Turn[] = []
  const calls = openCalls<Call>()
  const dropped = new Set<string>()
  let position = 0

  const turnOf = (role: Content['role']): Turn => {
    const last = turns.at(-1)
    if (last?.role === role && last.results.length === 0) return last
    const next: Turn = { role, parts: [], results: [], media: [] }
    turns.push(next)
    return next
  }

  /** The id that is sent for a call and its result. */
  const idOf = (id: string, at: number): string | undefined => (traits.ids ? id || `call_${at}` : upstreamId(id))

  const [ofArguments, ofResults, ofImages] = [jsonCount(), jsonCount(), { found: 0 }]
  const addAssistant = (message: Extract<ChatMessage, { role: 'assistant' }>): void => {
    if (message['audio']) throw unsupported('Gemini does not take audio of an earlier answer')
    const turn = turnOf('model')
    const { byId, others } = detailsOf(message)
    if (byId.size + others.length === 0)
      for (const field of ['reasoning_details', 'thinking_blocks']) if (message[field]) dropped.add(`messages.${field}`)
    const parts = toAnswerParts(message.content ?? [], dropped, ofImages)
    if (typeof message['refusal'] === 'string') append(parts, toParts(message['refusal'], dropped))
    append(parts, toAnswerParts(imagesOf(message), dropped, ofImages))
    sign(parts, signatureOf(message), others)
    append(turn.parts, parts)
    for (const call of message.tool_calls ?? []) {
      if (call.type === 'custom') throw unsupported('Gemini has no custom tools')
      if (call['cache_control']) dropped.add('messages.tool_calls.cache_control')
      const { name, arguments: text } = call.function
      const id = idOf(call.id, position)
      calls.add(call.id, { turn, name, position: position++, id })
      const part: Part = { functionCall: { name, args: parseArguments(name, text, ofArguments), id } }
      const signature = signatureOf(call) ?? byId.get(call.id)
      // Once, also where several calls have the id.
      byId.delete(call.id)
      if (signature) part.thoughtSignature = signature
      turn.parts.push(part)
    }
  }

  const addResult = ({ tool_call_id, content }: Extract<ChatMessage, { role: 'tool' }>): void => {
    const call = calls.answer(tool_call_id)
    if (!call) throw invalid(`No tool call "${tool_call_id}" waits for a result`)
    const { turn, name, position, id } = call
    const given = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
    const isText = ({ type }: ContentPart): boolean => type === 'text'
    const response = toResult(textsOf(given.filter(isText), 'tool', dropped).join(''), ofResults)
    const others = given.filter((part) => !isText(part))
    const media = toParts(others, dropped)
    const isWithin = ({ inlineData }: Part): boolean => traits.gemini3 && inResults.test(inlineData?.mimeType ?? '')
    const parts = media.filter(isWithin)
    turn.results[position] = { functionResponse: { name, response, id, ...(parts.length > 0 && { parts }) } }
    const after = media.filter((part) => !isWithin(part))
    if (after.length > 0) append(turn.media, [{ text: `From the result of ${name}:` }, ...after])
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
  const startless = isEmpty || turns[0]!.parts.some(({ functionCall }) => functionCall)
  if (startless)
    turns.unshift({ role: 'user', parts: isEmpty ? system.splice(0) : [{ text: ' ' }], results: [], media: [] })
  const last = turns.at(-1)!
  const endless = !traits.prefill && last.role === 'model' && last.results.length === 0
  if (endless) turnOf('user').parts.push({ text: GO_ON })

  const contents = turns.flatMap(({ role, parts, results, media }): Content[] => {
    if (role === 'model' && traits.gemini3) signMissing(parts, traits)
    const given: Content[] = [{ role, parts: parts.length > 0 ? parts : [{ text: '' }] }]
    if (results.length > 0) given.push({ role: 'user', parts: Object.values(results) })
    if (media.length > 0) given.push({ role: 'user', parts: media })
    return given
  })
  return { system, contents, dropped, emulated: startless || endless }
}

import type { ChatCompletionRequest, ChatMessage, ContentPart, Target } from '@turnpike/core'
import { extend, isObject, markdownImage } from '@turnpike/core/helpers'
import { BYTES_PER_TOKEN, MOST_PICTURE_TOKENS, PICTURE_INPUT_TOKENS } from '../conventions.js'
import { expectedTokens, jsonBytes, mostTokens, utf8Bytes } from './text-bytes.js'

/** Bytes per second of a recording whose duration is not known: 128 kbit/s. */
export const BYTES_PER_SECOND = 16_000
/** Tokens per second of a recording. */
export const AUDIO_TOKENS = 32

/** Parts of messages that are no text. */
const media = new Set('image_url input_audio audio audio_url video video_url file document document_url'.split(' '))

type PicturePart = Extract<ContentPart, { type: 'image_url' }>

/** The host of an address, where it is spelled in ASCII: what else a URL may have there takes long to decode, of thousands of parts. */
const plainHost = /^https?:\/\/([\w.-]+)(?=[:/?#]|$)/i

const isInline = (url: string): boolean => /^data:image\//i.test(url)

/** Whether a part is a picture for certain: providers go by what a URL leads to, and some fetch videos and documents. */
function isPicture(part: ContentPart): part is PicturePart {
  if (part.type !== 'image_url') return false
  const { url } = (part as PicturePart).image_url
  if (isInline(url)) return true
  const host = plainHost.exec(url)?.[1]
  return host !== undefined && !/youtu\.?be|googleapis\.com/i.test(host)
}

/** A document, video or recording. */
interface Other {
  isAudio: boolean
  /** Whether it may be audio: what is named by an address or an id can be anything. */
  mayBeAudio: boolean
  bytes: number
}

/** What a prompt consists of. */
export interface Prompt {
  /** Of the JSON without the media: texts, tools, schemas, names of fields. */
  textBytes: number
  /** Of the texts alone: what is said and called in messages, and what tells the model what it can do. */
  saidBytes: number
  pictures: number
  /** Those of them that are named by an address. */
  addresses: number
  /** Documents, videos and recordings, whose tokens neither their bytes nor their address tell. */
  others: Other[]
}

/** Bytes of a text, of the texts in parts of a message, or of the JSON of anything else. */
function saidIn(value: unknown): number {
  if (typeof value === 'string') return utf8Bytes(value)
  if (!Array.isArray(value)) return jsonBytes(value)
  let bytes = 0
  for (const item of value as unknown[])
    bytes += isObject(item) && item['type'] === 'text' ? saidIn(item['text']) : jsonBytes(item)
  return bytes
}

/** Fields of messages with signatures of earlier thoughts, which are long and no text; their text is `reasoning_content`. */
const signatures = new Set(['extra_content', 'reasoning_details', 'thinking_blocks'])

/** Fields besides the messages that the model reads. */
const read = ['system', 'tools', 'functions', 'response_format']

/** The kind of the data URL in a part, such as `audio`, in lower case: some providers go by it, and not by the type of the part. Undefined without one. */
function mediaTypeOf(part: unknown): string | undefined {
  if (typeof part === 'string') return /^data:([a-z]+)\//i.exec(part)?.[1]?.toLowerCase()
  if (typeof part !== 'object' || part === null) return undefined
  return Object.values(part)
    .map(mediaTypeOf)
    .find((type) => type !== undefined)
}

/** Takes a request apart. Every value in it counts, whether or not the gateway knows its field. */
export function promptOf(request: ChatCompletionRequest): Prompt {
  const others: Prompt['others'] = []
  let [pictures, addresses] = [0, 0]
  /** What a part has besides its medium; undefined for nothing. Images within Markdown are text to some providers and pictures to others. */
  const textOf = (part: ContentPart): ContentPart | undefined => {
    if (isPicture(part)) {
      pictures++
      if (!isInline(part.image_url.url)) addresses++
      return extend(part, { image_url: extend(part.image_url, { url: '' }) })
    }
    if (part.type === 'text') pictures += part.text.match(markdownImage)?.length ?? 0
    if (!media.has(part.type)) return part
    const type = mediaTypeOf(part)
    const isAudio = part.type.includes('audio') || type === 'audio'
    others.push({ isAudio, mayBeAudio: isAudio || type === undefined, bytes: jsonBytes(part) })
    return undefined
  }
  /** What an image of an earlier answer has besides it, as it counts. */
  const pictureOf = (image: unknown): unknown => {
    const isImage = isObject(image) && isObject(image['image_url']) && typeof image['image_url']['url'] === 'string'
    if (!isImage) return image
    const { extra_content: _, ...part } = image
    return textOf(extend(part, { type: 'image_url' }) as unknown as ContentPart)
  }
  const messages = request.messages.map((message) => {
    const { content, audio } = message as ChatMessage & { audio?: unknown }
    // An earlier answer that was spoken is named by its id.
    if (audio !== undefined) others.push({ isAudio: true, mayBeAudio: true, bytes: jsonBytes(audio) })
    if (typeof content === 'string') textOf({ type: 'text', text: content })
    const plain = Array.isArray(content)
      ? { ...message, content: content.flatMap((part) => textOf(part) ?? []) }
      : message
    return Array.isArray(message['images']) ? extend(plain, { images: message['images'].flatMap(pictureOf) }) : plain
  })
  let saidBytes = 0
  for (const { role: _, ...said } of messages)
    for (const [name, value] of Object.entries(said)) if (!signatures.has(name)) saidBytes += saidIn(value)
  for (const field of read) saidBytes += saidIn(request[field])
  const textBytes = jsonBytes(extend(request, { messages: messages as ChatMessage[] }))
  return { textBytes, saidBytes, pictures, addresses, others }
}

/** Models that see pictures, and neither watch nor hear. */
const SEES_ONLY = /(?:^|[/.])(?:gpt-|chatgpt-|o\d|claude-|grok-|mistral-|pixtral-|llama|gemma)/i

/**
 * Whether an address of a picture may lead a target to something else: a gateway before models that watch videos, such as LiteLLM, sends them what it
 * finds there. Providers that fetch pictures themselves take nothing else.
 */
export const mayLeadElsewhere = ({ addresses }: Prompt, { model, provider }: Target): boolean =>
  addresses > 0 && !provider.chat?.prepare && !SEES_ONLY.test(model)

/** Tokens that are expected of the media of a prompt: those of recordings, and all others. */
export function expectedMedia({ pictures, others }: Prompt): { input: number; input_audio: number } {
  const expected = { input: pictures * PICTURE_INPUT_TOKENS, input_audio: 0 }
  for (const { isAudio, bytes: base64 } of others) {
    const bytes = (base64 * 3) / 4
    if (isAudio) expected.input_audio += Math.ceil((bytes / BYTES_PER_SECOND) * AUDIO_TOKENS)
    else expected.input += Math.max(PICTURE_INPUT_TOKENS, Math.ceil(bytes / BYTES_PER_TOKEN))
  }
  return expected
}

/** Tokens that are expected of the text of a prompt. */
export const expectedText = ({ saidBytes }: Prompt): number => expectedTokens(saidBytes)

/**
 * Tokens that a prompt has at most: never more than the context window, and as many where it has media of unknown length.
 * @param context the context window in tokens
 */
export function mostPrompt({ textBytes, pictures, others }: Prompt, model: string, context: number): number {
  if (others.length > 0) return context
  const perPicture = model.includes('4o-mini') ? MOST_PICTURE_TOKENS.mini : MOST_PICTURE_TOKENS.other
  return Math.min(mostTokens(textBytes) + pictures * perPicture, context)
}

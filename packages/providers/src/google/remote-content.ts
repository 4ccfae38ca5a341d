import type { ChatCompletionRequest, ChatMessage, ContentPart, Signal } from '@turnpike/core'
import { extend, invalid, unsupported } from '@turnpike/core/internal'
import type { ImagePart } from './content.js'
import { isRemote } from './content.js'

/** An image that was at an address. */
export interface RemoteImage {
  /** Such as `image/png`. */
  type: string
  /** In base64. */
  data: string
}

/**
 * Gets the image at an https URL that a caller wrote; whoever implements it answers for where it goes.
 * On Node and Bun, `remoteContent()` of `@turnpike/providers/remote-content` keeps to public addresses.
 * @throws ApiError 400 for what is not to be had, or has more than `limit` bytes
 */
export type RemoteContent = (url: string, options: { signal: Signal; limit: number }) => Promise<RemoteImage>

/** Bytes of all images of a request: Gemini takes 20 MB, and base64 makes four characters of three bytes. */
const BYTES = 15 * 1024 * 1024
/** Addresses of a request. */
const ADDRESSES = 16

const remoteParts = ({ messages }: ChatCompletionRequest): ImagePart[] =>
  messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter(isRemote)

/** @throws ApiError 400 for a request with an image that nobody would fetch */
export function refuseRemote(request: ChatCompletionRequest): void {
  if (remoteParts(request).length > 0)
    throw unsupported('Gemini does not fetch https URLs; the gateway does so only with the option remoteContent')
}

/** The same request with its remote images within it; what Google reads by itself stays where it is. */
export async function withRemoteContent(
  request: ChatCompletionRequest,
  get: RemoteContent,
  signal: Signal,
): Promise<ChatCompletionRequest> {
  const urls = new Set(remoteParts(request).map(({ image_url }) => image_url.url))
  if (urls.size === 0) return request
  if (urls.size > ADDRESSES) throw invalid(`At most ${ADDRESSES} images can be given by https URL`)

  // One after the other: what a request can make us fetch and hold is bounded.
  const fetched = new Map<string, string>()
  let limit = BYTES
  for (const url of urls) {
    const { type, data } = await get(url, { signal, limit })
    limit -= Math.ceil((data.length * 3) / 4)
    fetched.set(url, `data:${type};base64,${data}`)
  }
  const inline = (part: ContentPart): ContentPart => {
    if (!isRemote(part)) return part
    return extend(part, { image_url: extend(part.image_url, { url: fetched.get(part.image_url.url)! }) })
  }
  const messages = request.messages.map((message) =>
    Array.isArray(message.content)
      ? (extend(message, { content: message.content.map(inline) }) as ChatMessage)
      : message,
  )
  return extend(request, { messages })
}

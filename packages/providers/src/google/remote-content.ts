import type { ChatCompletionRequest, ChatMessage, ContentPart, Memory, Signal, UpstreamCall } from '@turnpike/core'
import { extend } from '@turnpike/core/helpers'
import { invalid, unsupported } from '@turnpike/core/internal'
import type { ImagePart } from './content.js'
import { imagesOf, isRemote } from './content.js'

/** A fetched image. */
export interface RemoteImage {
  /** Media type, such as `image/png`. */
  type: string
  /** In base64. */
  data: string
}

/**
 * Fetches the image at an https URL that a caller supplied. The implementation must prevent requests to internal addresses (SSRF);
 * on Node and Bun, `remoteContent()` of `@turnpike/providers/remote-content` reaches only public ones.
 * The bytes that it holds are taken from `memory`, as they come.
 * @throws ApiError 400 if the image cannot be fetched or is larger than `limit` bytes
 */
export type RemoteContent = (
  url: string,
  options: { signal: Signal; limit: number; memory?: Memory | undefined },
) => Promise<RemoteImage>

/**
 * Maximum size of all images of a request in bytes, each as often as it is used: Gemini accepts 20 MB, and base64 encodes three bytes as four
 * characters.
 */
const BYTES = 15 * 1024 * 1024
/** Maximum number of distinct URLs in a request. */
const ADDRESSES = 16

const remoteParts = ({ messages }: ChatCompletionRequest): ImagePart[] =>
  messages
    .flatMap((message): ContentPart[] => [
      ...(Array.isArray(message.content) ? message.content : []),
      ...imagesOf(message),
    ])
    .filter(isRemote)

/** @throws ApiError 400 for a request with an image that would have to be fetched */
export function refuseRemote(request: ChatCompletionRequest): void {
  if (remoteParts(request).length > 0)
    throw unsupported('Gemini does not fetch https URLs; the gateway does so only with the option remoteContent')
}

/** Replaces remote images with data URLs. URLs that Google resolves itself are kept. */
export async function withRemoteContent(
  request: ChatCompletionRequest,
  get: RemoteContent,
  { signal, memory }: Pick<UpstreamCall, 'signal' | 'memory'>,
): Promise<ChatCompletionRequest> {
  /** How often each URL is used. */
  const uses = new Map<string, number>()
  for (const { image_url } of remoteParts(request)) uses.set(image_url.url, (uses.get(image_url.url) ?? 0) + 1)
  if (uses.size === 0) return request
  if (uses.size > ADDRESSES) throw invalid(`At most ${ADDRESSES} images can be given by https URL`)

  // Sequential, so that the limit covers all images of the request.
  const fetched = new Map<string, string>()
  let limit = BYTES
  for (const [url, times] of uses) {
    const { type, data } = await get(url, { signal, limit: Math.floor(limit / times), memory })
    memory?.take(times * data.length)
    limit -= times * Math.ceil((data.length * 3) / 4)
    fetched.set(url, `data:${type};base64,${data}`)
  }
  const inline = (part: ContentPart): ContentPart => {
    if (!isRemote(part)) return part
    return extend(part, { image_url: extend(part.image_url, { url: fetched.get(part.image_url.url)! }) })
  }
  const messages = request.messages.map((message) => {
    const { content } = message
    const images = imagesOf(message)
    if (!Array.isArray(content) && images.length === 0) return message
    return extend(message, {
      content: Array.isArray(content) ? content.map(inline) : content,
      ...(images.length > 0 && { images: images.map(inline) }),
    }) as ChatMessage
  })
  return extend(request, { messages })
}

import type { Note, Provider, SpeechFormat, UpstreamCall } from '@turnpike/core'
import { extend } from '@turnpike/core/helpers'
import { malformed, tooLarge, truncated } from '../refusals/failures.js'
import { dismiss } from '../upstream/transport.js'
import type { Upstream } from '../upstream/upstream.js'
import { ANSWER_LIMIT, send } from '../upstream/upstream.js'
import { route } from './routing-fields.js'

/** The content type of each format. */
const types: Record<SpeechFormat, string> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
}

/** Upstreams' names of content types that are sent on. */
const audioType = /^audio\/[\w.+-]{1,60}$/

/** Upstreams' aliases of these content types. */
const otherNames: Record<string, string> = {
  'audio/mp3': 'audio/mpeg',
  'audio/opus': 'audio/ogg',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/x-flac': 'audio/flac',
}

/** Resolves with the body after its first non-empty piece has arrived. @throws UpstreamError if the body is empty or exceeds the limit */
async function startedBody(
  body: AsyncIterable<Uint8Array>,
  { id, limits: { answer: limit = ANSWER_LIMIT } = {} }: Upstream,
  { signal }: UpstreamCall,
): Promise<AsyncIterable<Uint8Array>> {
  const iterator = body[Symbol.asyncIterator]()
  let size = 0
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    let piece: IteratorResult<Uint8Array>
    try {
      piece = await iterator.next()
    } catch (cause) {
      throw signal.aborted ? signal.reason : truncated(id, 'The connection broke during the answer', cause)
    }
    if (!piece.done && (size += piece.value.length) > limit) {
      void iterator.return?.()
      throw tooLarge(id, `The answer is larger than ${limit} bytes`)
    }
    return piece
  }
  let first = await next()
  while (first.value?.length === 0) first = await next()
  if (first.done) throw malformed(id, 'The answer is empty')
  return (async function* () {
    try {
      for (let piece: IteratorResult<Uint8Array> = first; !piece.done; piece = await next()) yield piece.value
    } finally {
      await iterator.return?.()
    }
  })()
}

/** `/audio/speech`. The audio is streamed unchanged. */
export const speech =
  (upstream: Upstream): NonNullable<Provider['speech']> =>
  async (request, call) => {
    const { response_format: format } = request
    const body = extend(request, { provider: undefined })
    const notes: Note[] = []
    route(body, notes, upstream)
    const response = await send(
      upstream,
      { path: '/audio/speech', body, notes },
      call,
      extend(upstream.headers, { accept: '*/*' }),
    )
    const told = response.header('content-type')?.split(';', 1)[0]!.trim().toLowerCase() ?? ''
    if (/json|^text\//.test(told)) {
      dismiss(response)
      throw malformed(upstream.id, `The answer is no audio but ${told}`)
    }
    return {
      contentType: audioType.test(told) ? (otherNames[told] ?? told) : types[format ?? 'mp3'],
      body: await startedBody(response.body, upstream, call),
      usage: undefined,
    }
  }

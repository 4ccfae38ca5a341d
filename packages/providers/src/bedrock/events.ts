import type { Memory } from '@turnpike/core'
import type { Read } from '@turnpike/core/helpers'
import { concat, fromBase64, inTurns, Pieces, readerOf } from '@turnpike/core/helpers'
import { EVENT, excessOf, parseJson } from '../upstream/json.js'
import { keptOf } from '../upstream/kept.js'
import type { Transport, TransportResponse } from '../upstream/transport.js'
import type { Frame } from './event-stream.js'
import { frameReader } from './event-stream.js'

/** The status of each exception in a stream (Bedrock's API reference, `ResponseStream`). */
const statuses: Record<string, number> = {
  internalServerException: 500,
  modelStreamErrorException: 424,
  modelTimeoutException: 408,
  serviceUnavailableException: 503,
  throttlingException: 429,
  validationException: 400,
}

const utf8 = new TextEncoder()
const text = new TextDecoder()

/** The data of the server-sent event that says the same as a frame; undefined for a frame that says nothing. An error has the form of Claude's. */
function dataOf({ headers, payload }: Frame): Uint8Array | undefined {
  const json = text.decode(payload)
  const tooMuch = excessOf(json, EVENT)
  if (tooMuch) throw new TypeError(`A frame ${tooMuch}`)
  const body = parseJson(json) as { bytes?: unknown; message?: unknown } | null | undefined
  if (headers[':message-type'] === 'event') return typeof body?.bytes === 'string' ? fromBase64(body.bytes) : undefined
  const type = headers[':exception-type'] ?? headers[':error-code'] ?? ''
  const message = body?.message ?? headers[':error-message'] ?? type
  return utf8.encode(JSON.stringify({ type: 'error', error: { type, code: statuses[type] ?? 500, message } }))
}

const BEGIN = utf8.encode('data: ')
const END = utf8.encode('\n\n')

/**
 * A body of frames as server-sent events, one piece for each. A frame that is wrong or cut breaks it off.
 * @param memory what the bytes of a frame are taken from that is not complete
 */
function toEvents(body: TransportResponse['body'], memory: Memory | undefined): Pieces<Uint8Array> {
  const source = body[Symbol.asyncIterator]()
  const readPiece = inTurns(readerOf(source))
  const frames = frameReader()
  const keep = keptOf(memory)
  const read: Read<Uint8Array> = (onResult, onError) =>
    readPiece((result) => {
      try {
        if (result.done) {
          if (frames.size() > 0) throw new TypeError('The answer ended within a frame')
          onResult(result)
          return
        }
        const lines = frames.take(result.value).flatMap((frame) => {
          const data = dataOf(frame)
          return data ? [BEGIN, data, END] : []
        })
        keep(frames.size())
        if (lines.length === 0) read(onResult, onError)
        else
          onResult({
            done: false,
            value: concat(
              lines,
              lines.reduce((sum, { length }) => sum + length, 0),
            ),
          })
      } catch (error) {
        void source.return?.()
        onError(error)
      }
    }, onError)
  return new Pieces(read, async () => void (await source.return?.()))
}

/**
 * A transport to Bedrock whose answers are as those of other servers: frames become server-sent events, and a quota that is used up, which Bedrock
 * tells with 400, is a 429.
 */
export const bedrockTransport =
  (transport: Transport): Transport =>
  async (request) => {
    const response = await transport(request)
    const { header } = response
    if (header('x-amzn-errortype')?.startsWith('ServiceQuotaExceeded')) return { ...response, status: 429 }
    if (!header('content-type')?.startsWith('application/vnd.amazon.eventstream')) return response
    return {
      status: response.status,
      header: (name) => (name === 'content-type' ? 'text/event-stream' : header(name)),
      body: toEvents(response.body, request.memory),
    }
  }

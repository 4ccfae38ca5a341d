import { parseJson } from './families/family.js'
import { readStream } from './sse.js'
import type { Passed } from './passed.js'

/** Sends a request and reads the answer as it comes; `onPart` gets the body so far. */
export async function send(
  url: string,
  init: RequestInit,
  onPart: (text: string) => void,
): Promise<Pick<Passed, 'status' | 'headers' | 'text' | 'broken' | 'json' | 'stream'>> {
  let response: Response
  try {
    response = await fetch(url, init)
  } catch (cause) {
    const text = cause instanceof Error ? String(cause.cause ?? cause.message) : ''
    return { status: 0, headers: new Headers(), text, broken: true, json: undefined, stream: undefined }
  }
  const { status, headers, body } = response
  let text = ''
  let broken = false
  const decoder = new TextDecoder()
  try {
    for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
      text += decoder.decode(piece, { stream: true })
      onPart(text)
    }
  } catch {
    broken = true
  }
  const streams = headers.get('content-type')?.startsWith('text/event-stream')
  return { status, headers, text, broken, json: parseJson(text), stream: streams ? readStream(text) : undefined }
}

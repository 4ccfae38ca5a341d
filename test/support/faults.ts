import type { FakeAnswer } from '@turnpike/providers/testing'

/** An upstream's error in OpenAI's form. */
export const refusal = (
  status: number,
  message: string,
  options: { code?: string; headers?: Record<string, string> } = {},
): FakeAnswer => ({
  status,
  headers: { 'content-type': 'application/json', ...options.headers },
  body: JSON.stringify({ error: { message, type: 'upstream_type', param: null, code: options.code ?? null } }),
})

/** A stream of these pieces; a promise among them is waited for. */
export const streaming = (...pieces: (string | Promise<string>)[]): FakeAnswer => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: (async function* () {
    for (const piece of pieces) yield await piece
  })(),
})

/** A chunk with a piece of text, as it goes over the wire. */
export const textEvent = (content: string, finish_reason: string | null = null): string => {
  const head = { id: 'chatcmpl-fault', object: 'chat.completion.chunk', created: 1_770_933_892, model: 'gpt-4o-mini' }
  return `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`
}

/** A piece of a stream that waits until it is sent. */
export function held(): { piece: Promise<string>; send(text: string): void } {
  let resolve: (text: string) => void
  const piece = new Promise<string>((settle) => (resolve = settle))
  return { piece, send: (text) => resolve(text) }
}

/** A promise that never settles: what only an abort ends. */
export const never = new Promise<never>(() => undefined)

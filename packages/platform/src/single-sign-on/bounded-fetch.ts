import { PROVIDER_ANSWER_BYTES, PROVIDER_S } from '../conventions.js'
import { SignInError } from './provider.js'

/** What is asked; `body` may be undefined, as oauth4webapi has it. */
type Init = Omit<RequestInit, 'body'> & { body?: RequestInit['body'] | undefined }
type Fetch = (url: string, init?: Init) => Promise<Response>

/** Reads a body. @throws Error where it is too large */
async function readBody(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > PROVIDER_ANSWER_BYTES) throw new SignInError('The answer is too large', 'too_large')
    chunks.push(chunk)
  }
  const body = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    body.set(chunk, at)
    at += chunk.length
  }
  return body
}

/** `fetch` whose answers, with their bodies, have a limit of time and size, and which follows no redirect. */
export const boundedFetch: Fetch = async (url, { body: sent, ...init } = {}) => {
  const response = await fetch(url, {
    ...init,
    ...(sent != null && { body: sent }),
    redirect: 'manual',
    signal: AbortSignal.timeout(PROVIDER_S * 1_000),
  })
  const { status, headers } = response
  const body = await readBody(response)
  return new Response(body.length > 0 ? body : null, { status, headers })
}

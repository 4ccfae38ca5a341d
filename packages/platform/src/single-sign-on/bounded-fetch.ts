import { readAtMost } from '@turnpike/core/helpers'
import { PROVIDER_ANSWER_BYTES, PROVIDER_S } from '../conventions.js'
import { SignInError } from './provider.js'

/** What is asked; `body` may be undefined, as oauth4webapi has it. */
type Init = Omit<RequestInit, 'body'> & { body?: RequestInit['body'] | undefined }
type Fetch = (url: string, init?: Init) => Promise<Response>

/** `fetch` whose answers, with their bodies, have a limit of time and size, and which follows no redirect. */
export const boundedFetch: Fetch = async (url, { body: sent, ...init } = {}) => {
  const response = await fetch(url, {
    ...init,
    ...(sent != null && { body: sent }),
    redirect: 'manual',
    signal: AbortSignal.timeout(PROVIDER_S * 1_000),
  })
  const { status, headers } = response
  const tooLarge = () => new SignInError('The answer is too large', 'too_large')
  const body = await readAtMost(response.body as AsyncIterable<Uint8Array> | null, PROVIDER_ANSWER_BYTES, tooLarge)
  return new Response(body.length > 0 ? (body as Uint8Array<ArrayBuffer>) : null, { status, headers })
}

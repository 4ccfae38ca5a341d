import { errorOf, PlatformError } from './errors.js'

/** How a request gets to the server: `fetch`, or for uploads XMLHttpRequest. */
export type Transport = (url: string, init: RequestInit) => Promise<Response>

/** A request, as often as it may have to be sent. */
export interface Outgoing {
  method: string
  /** Without host and query. */
  path: string
  url: string
  headers: Record<string, string>
  body?: string | FormData
  signal?: AbortSignal | undefined
  transport: Transport
}

/** What {@link sender} needs of the client. */
export interface SenderParts {
  /** The access token to send; undefined where there is none. */
  token(): string | undefined | Promise<string | undefined>
  /** Makes the session good again. @returns false where it is over */
  renew(refused: string | undefined): Promise<boolean>
  /** How often a request is sent again at most. */
  retries: number
  /** The longest `Retry-After` that is waited for, in seconds. */
  maxRetryAfter: number
}

/** The server, or the one behind a proxy, was not there or not ready. */
const UNAVAILABLE = [502, 503, 504]

/** Milliseconds before the first repetition, where the server told no time; then twice as many. */
const PAUSE_MS = 500

/** Whether a request asks a model: each costs, so that none is sent again. */
const isGeneration = (path: string): boolean =>
  path.startsWith('/api/gateway/') || /\/conversation\/(messages|reply)$/.test(path)

/** The promise, unless the signal aborts first. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

async function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    await unlessAborted(new Promise((resolve) => (timer = setTimeout(resolve, ms))), signal)
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Sends requests, and sends them again where that can do no harm:
 *
 * - once after 401, which nothing was done for, if the session could be renewed;
 * - after 429 and 503 with `Retry-After`, which nothing was done for either, unless it is a generation;
 * - GET after 502, 503, 504 and errors of the network as well.
 *
 * Resolves with an answer that succeeded.
 * @throws PlatformError for any other, and what the transport throws
 */
export function sender({ token, renew, retries, maxRetryAfter }: SenderParts) {
  const transmit = async ({ method, url, headers, body, signal, transport }: Outgoing, access: string | undefined) =>
    transport(url, {
      method,
      headers: { ...headers, ...(access !== undefined && { authorization: `Bearer ${access}` }) },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    })

  const sendWithSession = async (request: Outgoing): Promise<Response> => {
    const access = await token()
    const response = await transmit(request, access)
    if (response.status !== 401 || !(await unlessAborted(renew(access), request.signal))) return response
    await response.body?.cancel()
    return transmit(request, await token())
  }

  /** Milliseconds before a request is sent again; undefined if it is not. */
  const pauseAfter = (error: unknown, { method, path }: Outgoing, repeated: number): number | undefined => {
    if (isGeneration(path) || repeated >= retries) return undefined
    const { status, retryAfter } = error instanceof PlatformError ? error : { status: undefined, retryAfter: undefined }
    if (retryAfter !== undefined && (status === 429 || status === 503))
      return retryAfter <= maxRetryAfter ? retryAfter * 1_000 : undefined
    return method === 'GET' && (status === undefined || UNAVAILABLE.includes(status))
      ? PAUSE_MS * 2 ** repeated
      : undefined
  }

  return async (request: Outgoing): Promise<Response> => {
    for (let repeated = 0; ; repeated++) {
      try {
        const response = await sendWithSession(request)
        // 304 only answers who knows a version.
        if (response.ok || response.status === 304) return response
        throw await errorOf(response)
      } catch (error) {
        const pause = pauseAfter(error, request, repeated)
        if (pause === undefined) throw error
        await delay(pause, request.signal)
      }
    }
  }
}

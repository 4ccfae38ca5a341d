/** An answer that is an error, or a stream that ended with one. Errors of the network are those of `fetch`. */
export class PlatformError extends Error {
  override readonly name = 'PlatformError'
  /** The HTTP status of the answer; 200 where a stream failed after its beginning. */
  readonly status: number
  /**
   * Of errors of the gateway, their code, such as `insufficient_credits`; `stream_incomplete` and `stream_invalid` of a stream that broke
   * off or has an event that is no JSON. Undefined where the status says it all.
   */
  readonly code: string | undefined
  /** The whole error, where it is an object. */
  readonly details: object | undefined
  /** The `X-Request-ID` of the answer, to be found in the logs of the server. */
  readonly requestId: string | undefined
  /** Seconds after which to try again; undefined where the server did not say. */
  readonly retryAfter: number | undefined

  constructor(response: Response, { message, code, details }: { message: string; code?: string; details?: object }) {
    super(message)
    this.status = response.status
    this.code = code
    this.details = details
    this.requestId = response.headers.get('x-request-id') ?? undefined
    this.retryAfter = secondsOf(response.headers.get('retry-after'))
  }
}

/** The seconds of a `Retry-After` header, which has seconds or a date. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1_000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

/** The error in the body of an answer or the data of an event: the platform's is a text, the gateway's an object. */
export function errorIn(response: Response, body: unknown): PlatformError | undefined {
  const error = (body as { error?: unknown } | null | undefined)?.error
  if (typeof error === 'string') return new PlatformError(response, { message: error })
  if (typeof error !== 'object' || error === null) return undefined
  const { message = 'The request failed', code } = error as { message?: string; code?: string }
  return new PlatformError(response, { message, details: error, ...(code !== undefined && { code }) })
}

/**
 * The error that an answer of the platform or the gateway is, for whoever sends requests without the client.
 * @example if (!response.ok) throw await errorOf(response)
 */
export async function errorOf(response: Response): Promise<PlatformError> {
  const body: unknown = await response.json().catch(() => undefined)
  // Not the platform's: that of a proxy, say.
  return errorIn(response, body) ?? new PlatformError(response, { message: `The server answered ${response.status}` })
}

/** Signed requests to S3, with time-outs and further attempts. @module */
import { StorageError } from '@turnpike/core'
import { AwsV4Signer } from 'aws4fetch'

/** Options of `s3Blobs`. */
export interface S3Options {
  /** Such as `https://s3.eu-central-1.amazonaws.com`; the bucket is appended to its path. */
  endpoint: string
  bucket: string
  /** Such as `eu-central-1`; `auto` for Cloudflare. */
  region: string
  accessKeyId: string
  secretAccessKey: string
  /** For temporary credentials. */
  sessionToken?: string
  /** Prefix of the object names, such as `files/`; default none. */
  prefix?: string
  /** Size of an upload part in bytes; default 8 MiB. S3 allows 10 000 parts, each of at least 5 MiB. A smaller blob is one request. */
  partBytes?: number
  /** Time-out of a request, and of waiting for the next bytes of a blob, in milliseconds; default 60 000. */
  timeout?: number
}

/** A request to S3. */
export interface S3Request {
  method: string
  /** Name of the object; empty for the bucket. */
  name: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Uint8Array
  signal?: AbortSignal | undefined
  /** Once it is aborted, nothing is sent any more. What was sent is waited for: S3 may store it all the same, also after the upload was aborted. */
  stop?: AbortSignal | undefined
}

/** Maximum number of attempts while the server fails. */
const TRIES = 4
/** Delay before the second attempt in milliseconds; doubled before each further one. */
const BACK_OFF = 200
/** Size in bytes of the pieces in which a body is streamed. */
const PIECE = 65_536

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Bytes as a stream, which `fetch` does not copy. */
function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) controller.close()
      else controller.enqueue(bytes.subarray(at, (at += PIECE)))
    },
  })
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text of the first element `name`. */
export const elementOf = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`)
    .exec(xml)?.[1]
    ?.replace(/&(?:#(x[\da-f]+|\d+)|(\w+));/gi, (whole, code?: string, entity?: string) =>
      code ? String.fromCodePoint(Number(`0${code}`)) : (ENTITIES[entity!] ?? whole),
    )

const isFaultOfServer = (status: number): boolean => status >= 500 || status === 429

/** The error for an answer that is not expected. */
export const refusal = (method: string, status: number, xml: string): StorageError =>
  new StorageError(
    `S3 answered ${method} with ${status} ${elementOf(xml, 'Code') ?? ''}`.trimEnd(),
    isFaultOfServer(status) ? 'unknown' : 'none',
  )

/** Sends requests to the bucket of `options`. */
export function s3Client(options: S3Options) {
  const { endpoint, bucket, timeout = 60_000 } = options
  const cache = new Map<string, ArrayBuffer>()
  /** Signs a request in its headers, or in its URL. */
  const sign = (
    { method, name, query = {}, headers = {} }: S3Request,
    signQuery = false,
  ): Promise<{ url: URL; headers: Headers }> => {
    const { region, accessKeyId, secretAccessKey, sessionToken } = options
    const signer = new AwsV4Signer({
      url: `${endpoint.replace(/\/$/, '')}/${bucket}/${name}?${new URLSearchParams(query)}`,
      method,
      headers,
      signQuery,
      ...(sessionToken !== undefined && { sessionToken }),
      service: 's3',
      region,
      accessKeyId,
      secretAccessKey,
      cache,
    })
    return signer.sign()
  }

  /** Sends a request once. `read` gets the response if its status is 2xx or 404. */
  const sendOnce = async <T>(request: S3Request, read: (response: Response) => Promise<T>) => {
    const { method, body, signal } = request
    const timer = new AbortController()
    const late = setTimeout(
      () => timer.abort(new StorageError(`S3 has not answered for ${timeout} ms`, 'unknown')),
      timeout,
    )
    try {
      const signed = await sign(request)
      // Not signed, because a proxy may change this header. Without it, a body may be compressed and its length missing.
      signed.headers.set('accept-encoding', 'identity')
      // S3 refuses a body of unknown length.
      if (body) signed.headers.set('content-length', String(body.length))
      const response = await fetch(signed.url, {
        method,
        headers: signed.headers,
        ...(body && { body: streamOf(body), duplex: 'half' }),
        signal: signal ? AbortSignal.any([signal, timer.signal]) : timer.signal,
      })
      if (!response.ok && response.status !== 404) throw refusal(method, response.status, await response.text())
      return await read(response)
    } catch (error) {
      if (StorageError.is(error) || signal?.aborted) throw error
      throw new StorageError(`S3 could not be reached for ${method}`, 'unknown', { cause: error })
    } finally {
      clearTimeout(late)
    }
  }
  /** Sends a request, and retries while the server fails. */
  const send = async <T>(request: S3Request, read: (response: Response) => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries++) {
      request.stop?.throwIfAborted()
      try {
        return await sendOnce(request, read)
      } catch (error) {
        if (!StorageError.is(error) || error.outcome === 'none' || tries === TRIES) throw error
        await pause(BACK_OFF * 2 ** (tries - 1) * (0.5 + Math.random() / 2))
      }
    }
  }
  /** Sends a request that must succeed, and returns its response as text. Here 404 is an error. */
  const call = (request: S3Request): Promise<{ headers: Headers; text: string }> =>
    send(request, async (response) => {
      const text = await response.text()
      // S3 answers the completion of an upload with 200 before it knows the result, so the body may be an error.
      if (text.includes('<Error>')) throw refusal(request.method, response.ok ? 500 : response.status, text)
      if (!response.ok) throw refusal(request.method, response.status, text)
      return { headers: response.headers, text }
    })

  return { sign, send, call }
}

/** Blobs in a bucket of S3 or a compatible service. @module */
import type { BlobStore, ByteRange } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { contentDisposition, encodeKey } from '@turnpike/core/internal'
import { AwsV4Signer } from 'aws4fetch'
import { cutRange, writeChunks } from './blob-bytes.js'

/** Options of {@link s3Blobs}. */
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
interface S3Request {
  method: string
  key: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Uint8Array
  signal?: AbortSignal | undefined
}

/** Maximum number of attempts while the server fails. */
const TRIES = 4
/** Delay before the second attempt in milliseconds; doubled before each further one. */
const BACK_OFF = 200
/** Maximum lifetime of a signed URL in seconds. */
const MAX_EXPIRES_IN = 604_800
/** Number of parts that are uploaded concurrently. */
const PARALLEL = 2
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

const elementOf = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]

const isFaultOfServer = (status: number): boolean => status >= 500 || status === 429

const refusal = (method: string, status: number, xml: string): StorageError =>
  new StorageError(
    `S3 answered ${method} with ${status} ${elementOf(xml, 'Code') ?? ''}`.trimEnd(),
    isFaultOfServer(status) ? 'unknown' : 'none',
  )

/**
 * Stores blobs in a bucket. A blob larger than a part is a multipart upload, which is aborted if it fails, with three parts in memory.
 * Key segments with special characters are encoded as by `encodeKey`. Needs aws4fetch.
 * Errors of S3 are `StorageError`s with its status and code; after 5xx, 429 and broken connections, a request is tried four times in all.
 * @example const blobs = s3Blobs({ endpoint, bucket: 'files', region: 'eu-central-1', accessKeyId, secretAccessKey })
 */
export function s3Blobs(options: S3Options): BlobStore & Required<Pick<BlobStore, 'signedUrl'>> {
  const { endpoint, bucket, prefix = '', partBytes = 2 ** 23, timeout = 60_000 } = options
  const cache = new Map<string, ArrayBuffer>()
  const urlOf = (key: string, query: Record<string, string> = {}): string =>
    `${endpoint.replace(/\/$/, '')}/${bucket}/${prefix}${encodeKey(key.split('/'))}?${new URLSearchParams(query)}`
  const sign = (request: Omit<ConstructorParameters<typeof AwsV4Signer>[0], 'accessKeyId' | 'secretAccessKey'>) => {
    const { region, accessKeyId, secretAccessKey, sessionToken } = options
    const signer = new AwsV4Signer({
      ...request,
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
  const sendOnce = async <T>(
    { method, key, query, headers, body, signal }: S3Request,
    read: (response: Response) => Promise<T>,
  ) => {
    const timer = new AbortController()
    const late = setTimeout(
      () => timer.abort(new StorageError(`S3 has not answered for ${timeout} ms`, 'unknown')),
      timeout,
    )
    try {
      const signed = await sign({ url: urlOf(key, query), method, headers: headers ?? {} })
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
      try {
        return await sendOnce(request, read)
      } catch (error) {
        if (!StorageError.is(error) || error.outcome === 'none' || tries === TRIES) throw error
        await pause(BACK_OFF * 2 ** (tries - 1) * (0.5 + Math.random() / 2))
        request.signal?.throwIfAborted()
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

  async function* read(key: string, size: number, { start, end }: Required<ByteRange>, etag: string) {
    const idle = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const headers = { range: `bytes=${start}-${end}`, 'if-match': etag }
    const response = await send({ method: 'GET', key, headers, signal: idle.signal }, async (answer) => answer)
    const isExpected = response.status === 206 || (response.status === 200 && end - start + 1 === size)
    const body = response.body?.getReader()
    try {
      if (!body || !isExpected) throw refusal('GET', response.status, '')
      for (let left = end - start + 1; left > 0;) {
        timer = setTimeout(() => idle.abort(new StorageError(`S3 has sent nothing for ${timeout} ms`, 'none')), timeout)
        const { value } = await body.read()
        clearTimeout(timer)
        if (!value) throw new StorageError('S3 sent fewer bytes than it has', 'none')
        // Some servers send more than the range.
        yield value.subarray(0, left)
        left -= value.length
      }
    } finally {
      clearTimeout(timer)
      idle.abort()
    }
  }

  const begin = async (key: string, type: string, signal: AbortSignal): Promise<string> => {
    const headers = { 'content-type': type }
    const { text } = await call({ method: 'POST', key, query: { uploads: '' }, headers, signal })
    const uploadId = elementOf(text, 'UploadId')
    if (!uploadId) throw new StorageError('S3 began an upload without an id', 'none')
    return uploadId
  }
  const finish = async (key: string, uploadId: string, etags: string[]): Promise<void> => {
    const parts = etags.map((etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${etag}</ETag></Part>`)
    const xml = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`
    await call({
      method: 'POST',
      key,
      query: { uploadId },
      headers: { 'content-type': 'application/xml' },
      body: new TextEncoder().encode(xml),
    })
  }

  return {
    async put(key, body, { type, maxBytes, signal }) {
      let upload: Promise<string> | undefined
      const etags: string[] = []
      try {
        const stored = await writeChunks(
          body,
          { chunkBytes: partBytes, maxBytes, parallel: PARALLEL, signal },
          async (chunk, i, isLast, signal) => {
            if (isLast && i === 0) {
              await call({ method: 'PUT', key, headers: { 'content-type': type }, body: chunk, signal })
              return
            }
            upload ??= begin(key, type, signal)
            const query = { partNumber: String(i + 1), uploadId: await upload }
            const { headers } = await call({ method: 'PUT', key, query, body: chunk, signal })
            etags[i] = headers.get('etag') ?? ''
          },
        )
        if (upload) await finish(key, await upload, etags)
        return stored
      } catch (error) {
        const uploadId = await upload?.catch(() => undefined)
        if (uploadId) await call({ method: 'DELETE', key, query: { uploadId } }).catch(() => undefined)
        throw error
      }
    },
    async get(key, wanted) {
      const head = await send({ method: 'HEAD', key }, async (response) => response)
      if (head.status === 404) return null
      const size = Number(head.headers.get('content-length'))
      const type = head.headers.get('content-type') ?? ''
      const range = cutRange(size, wanted)
      return { body: range ? read(key, size, range, head.headers.get('etag') ?? '*') : empty(), size, type, range }
    },
    async delete(key) {
      await send({ method: 'DELETE', key }, async () => undefined)
    },
    async signedUrl(key, { expiresIn, filename }) {
      if (!Number.isInteger(expiresIn) || expiresIn < 1 || expiresIn > MAX_EXPIRES_IN)
        throw new RangeError(`An address is good for 1 to ${MAX_EXPIRES_IN} seconds, not ${expiresIn}`)
      const query = {
        'X-Amz-Expires': String(expiresIn),
        ...(filename !== undefined && { 'response-content-disposition': contentDisposition('attachment', filename) }),
      }
      const { url } = await sign({ url: urlOf(key, query), method: 'GET', signQuery: true })
      // The signature was made with %20 for a space.
      url.search = url.search.replaceAll('+', '%20')
      return url
    },
  }
}

async function* empty(): AsyncGenerator<Uint8Array> {}

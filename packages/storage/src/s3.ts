/** Blobs in an S3 bucket, or one of another maker. @module */
import type { BlobStore, ByteRange } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { encodeKey } from '@turnpike/core/internal'
import { AwsV4Signer } from 'aws4fetch'
import { cutRange, writeChunks } from './blob-bytes.js'

/** Options of {@link s3Blobs}. */
export interface S3Options {
  /** Such as `https://s3.eu-central-1.amazonaws.com`; the bucket follows in the path. */
  endpoint: string
  bucket: string
  /** Such as `eu-central-1`; `auto` for Cloudflare. */
  region: string
  accessKeyId: string
  secretAccessKey: string
  /** Of temporary credentials. */
  sessionToken?: string
  /** What the names of the objects begin with, such as `files/`; default nothing. */
  prefix?: string
  /** Bytes of a part, of which S3 takes 10 000 for a blob, each of at least 5 MiB; default 8 MiB. What is not larger is one request. */
  partBytes?: number
  /** Milliseconds that a request may take, or wait for the next bytes of a blob; default 60 000. */
  timeout?: number
}

/** One request. */
interface Ask {
  method: string
  key: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Uint8Array
  signal?: AbortSignal | undefined
}

/** How often a request is made while the server is at fault. */
const TRIES = 4
/** Milliseconds before the second of them; twice as long before each further one. */
const BACK_OFF = 200
/** Seconds that an address may be good for. */
const LONGEST = 604_800
/** Parts that are sent at the same time. */
const PARALLEL = 2
/** Bytes that are handed to the connection at a time. */
const PIECE = 65_536

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Bytes as a stream, of which `fetch` makes no copy. */
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

/** A header that has a file saved under its name, whatever is in that (RFC 6266). */
function attachment(filename: string): string {
  const plain = filename.replace(/[^ -~]|["\\%]/g, '_')
  // Half a character, which has no encoding, becomes U+FFFD.
  const whole = new TextDecoder().decode(new TextEncoder().encode(filename))
  const exact = encodeURIComponent(whole).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`
}

/**
 * Keeps blobs in a bucket. A blob larger than a part is a multipart upload, which is aborted where it fails; three parts of it are in
 * memory. Segments of a key that are not plain are encoded as by `encodeKey`. Needs aws4fetch.
 * What S3 refuses is a `StorageError` with its status and code; 5xx, 429 and broken connections are tried four times.
 * @example const blobs = s3Blobs({ endpoint, bucket: 'files', region: 'eu-central-1', accessKeyId, secretAccessKey })
 */
export function s3Blobs(options: S3Options): Required<BlobStore> {
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

  /** One request, made once; `read` gets an answer that is no failure. 404 is none. */
  const ask = async <T>(
    { method, key, query, headers, body, signal }: Ask,
    read: (response: Response) => Promise<T>,
  ) => {
    const timer = new AbortController()
    const late = setTimeout(
      () => timer.abort(new StorageError(`S3 has not answered for ${timeout} ms`, 'unknown')),
      timeout,
    )
    try {
      const signed = await sign({ url: urlOf(key, query), method, headers: headers ?? {} })
      // A proxy may change this header, so it is not signed. A body that is compressed on its way has no length.
      signed.headers.set('accept-encoding', 'identity')
      // S3 takes no body of unknown length.
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
  /** A request that is made again where the server is at fault. */
  const persist = async <T>(request: Ask, read: (response: Response) => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries++) {
      try {
        return await ask(request, read)
      } catch (error) {
        if (!StorageError.is(error) || error.outcome === 'none' || tries === TRIES) throw error
        await pause(BACK_OFF * 2 ** (tries - 1) * (0.5 + Math.random() / 2))
        request.signal?.throwIfAborted()
      }
    }
  }
  /** A request that is to find what it is for, and its answer as text. */
  const call = (request: Ask): Promise<{ headers: Headers; text: string }> =>
    persist(request, async (response) => {
      const text = await response.text()
      // The end of an upload is begun with 200 before it is known how it went.
      if (text.includes('<Error>')) throw refusal(request.method, response.ok ? 500 : response.status, text)
      if (!response.ok) throw refusal(request.method, response.status, text)
      return { headers: response.headers, text }
    })

  async function* read(key: string, size: number, { start, end }: Required<ByteRange>, etag: string) {
    const idle = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const headers = { range: `bytes=${start}-${end}`, 'if-match': etag }
    const response = await persist({ method: 'GET', key, headers, signal: idle.signal }, async (answer) => answer)
    const isAsked = response.status === 206 || (response.status === 200 && end - start + 1 === size)
    const body = response.body?.getReader()
    try {
      if (!body || !isAsked) throw refusal('GET', response.status, '')
      for (let left = end - start + 1; left > 0;) {
        timer = setTimeout(() => idle.abort(new StorageError(`S3 has sent nothing for ${timeout} ms`, 'none')), timeout)
        const { value } = await body.read()
        clearTimeout(timer)
        if (!value) throw new StorageError('S3 sent fewer bytes than it has', 'none')
        // Some servers take the end of a range for less than it is.
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
      const head = await persist({ method: 'HEAD', key }, async (response) => response)
      if (head.status === 404) return null
      const size = Number(head.headers.get('content-length'))
      const type = head.headers.get('content-type') ?? ''
      const range = cutRange(size, wanted)
      return { body: range ? read(key, size, range, head.headers.get('etag') ?? '*') : none(), size, type, range }
    },
    async delete(key) {
      await persist({ method: 'DELETE', key }, async () => undefined)
    },
    async signedUrl(key, { expiresIn, filename }) {
      if (!Number.isInteger(expiresIn) || expiresIn < 1 || expiresIn > LONGEST)
        throw new RangeError(`An address is good for 1 to ${LONGEST} seconds, not ${expiresIn}`)
      const query = {
        'X-Amz-Expires': String(expiresIn),
        ...(filename !== undefined && { 'response-content-disposition': attachment(filename) }),
      }
      const { url } = await sign({ url: urlOf(key, query), method: 'GET', signQuery: true })
      // What is signed has %20.
      url.search = url.search.replaceAll('+', '%20')
      return url
    },
  }
}

async function* none(): AsyncGenerator<Uint8Array> {}

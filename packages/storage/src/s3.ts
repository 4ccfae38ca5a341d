/** Blobs in a bucket of S3 or a compatible service. @module */
import type { BlobStore, ByteRange } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { contentDisposition } from '@turnpike/core/helpers'
import { encodeKey } from '@turnpike/core/internal'
import { cutRange, writeChunks } from './blobs/blob-bytes.js'
import type { S3Options } from './blobs/s3-client.js'
import { elementOf, refusal, s3Client } from './blobs/s3-client.js'

export type { S3Options } from './blobs/s3-client.js'

/** Maximum lifetime of a signed URL in seconds. */
const MAX_EXPIRES_IN = 604_800
/** Age in milliseconds from which on an upload counts as abandoned. */
const ABANDONED = 2 * 86_400_000
/** Number of parts that are uploaded concurrently. */
const PARALLEL = 2

/**
 * Stores blobs in a bucket. A blob larger than a part is a multipart upload, which is aborted if it fails, with three parts in memory.
 * Key segments with special characters are encoded as by `encodeKey`. Needs aws4fetch.
 * Errors of S3 are `StorageError`s with its status and code; after 5xx, 429 and broken connections, a request is tried four times in all.
 * @example const blobs = s3Blobs({ endpoint, bucket: 'files', region: 'eu-central-1', accessKeyId, secretAccessKey })
 */
export function s3Blobs(options: S3Options): Required<BlobStore> {
  const { prefix = '', partBytes = 2 ** 23, timeout = 60_000 } = options
  const { sign, send, call } = s3Client(options)
  const nameOf = (key: string): string => prefix + encodeKey(key.split('/'))

  async function* read(name: string, size: number, { start, end }: Required<ByteRange>, etag: string) {
    const idle = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const headers = { range: `bytes=${start}-${end}`, 'if-match': etag }
    const response = await send({ method: 'GET', name, headers, signal: idle.signal }, async (answer) => answer)
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

  const begin = async (name: string, type: string, stop: AbortSignal): Promise<string> => {
    const headers = { 'content-type': type }
    const { text } = await call({ method: 'POST', name, query: { uploads: '' }, headers, stop })
    const uploadId = elementOf(text, 'UploadId')
    if (!uploadId) throw new StorageError('S3 began an upload without an id', 'none')
    return uploadId
  }
  const finish = async (name: string, uploadId: string, etags: string[]): Promise<void> => {
    const parts = etags.map((etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${etag}</ETag></Part>`)
    const xml = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`
    await call({
      method: 'POST',
      name,
      query: { uploadId },
      headers: { 'content-type': 'application/xml' },
      body: new TextEncoder().encode(xml),
    })
  }
  /** Aborts an upload. @returns whether there was one */
  const abort = (name: string, uploadId: string): Promise<boolean> =>
    send({ method: 'DELETE', name, query: { uploadId } }, async (response) => {
      await response.body?.cancel()
      return response.ok
    })
  /** The uploads below the prefix that are neither finished nor aborted. */
  async function* listUploads() {
    for (let after: Record<string, string> | undefined = {}; after;) {
      const { text } = await call({ method: 'GET', name: '', query: { uploads: '', prefix, ...after } })
      for (const [upload] of text.matchAll(/<Upload>[^]*?<\/Upload>/g)) {
        const name = elementOf(upload, 'Key')
        const uploadId = elementOf(upload, 'UploadId')
        // Without an id, its deletion would be that of the object.
        if (name && uploadId) yield { name, uploadId, initiated: Date.parse(elementOf(upload, 'Initiated') ?? '') }
      }
      const marker = elementOf(text, 'NextKeyMarker')
      const isLast = elementOf(text, 'IsTruncated') !== 'true' || !marker
      after = isLast
        ? undefined
        : { 'key-marker': marker, 'upload-id-marker': elementOf(text, 'NextUploadIdMarker') ?? '' }
    }
  }

  return {
    async put(key, body, { type, maxBytes, signal, memory }) {
      const name = nameOf(key)
      let upload: Promise<string> | undefined
      const etags: string[] = []
      try {
        const stored = await writeChunks(
          body,
          { chunkBytes: partBytes, maxBytes, parallel: PARALLEL, reuse: true, signal, memory },
          async (chunk, i, isLast, stop) => {
            if (isLast && i === 0) {
              await call({ method: 'PUT', name, headers: { 'content-type': type }, body: chunk, stop })
              return
            }
            upload ??= begin(name, type, stop)
            const query = { partNumber: String(i + 1), uploadId: await upload }
            const { headers } = await call({ method: 'PUT', name, query, body: chunk, stop })
            etags[i] = headers.get('etag') ?? ''
          },
        )
        if (upload) await finish(name, await upload, etags)
        return stored
      } catch (error) {
        const uploadId = await upload?.catch(() => undefined)
        if (uploadId) await abort(name, uploadId).catch(() => undefined)
        throw error
      }
    },
    async get(key, wanted) {
      const name = nameOf(key)
      const head = await send({ method: 'HEAD', name }, async (response) => response)
      if (head.status === 404) return null
      const size = Number(head.headers.get('content-length'))
      const type = head.headers.get('content-type') ?? ''
      const range = cutRange(size, wanted)
      return { body: range ? read(name, size, range, head.headers.get('etag') ?? '*') : empty(), size, type, range }
    },
    async delete(key) {
      await send({ method: 'DELETE', name: nameOf(key) }, async () => undefined)
    },
    async sweep(olderThanMs = ABANDONED) {
      const before = Date.now() - olderThanMs
      const abandoned: { name: string; uploadId: string }[] = []
      for await (const upload of listUploads()) if (upload.initiated < before) abandoned.push(upload)
      let removed = 0
      for (const { name, uploadId } of abandoned) if (await abort(name, uploadId)) removed++
      return removed
    },
    maxExpiresIn: MAX_EXPIRES_IN,
    async signedUrl(key, { expiresIn, filename }) {
      if (!Number.isInteger(expiresIn) || expiresIn < 1 || expiresIn > MAX_EXPIRES_IN)
        throw new RangeError(`An address is good for 1 to ${MAX_EXPIRES_IN} seconds, not ${expiresIn}`)
      const query = {
        'X-Amz-Expires': String(expiresIn),
        ...(filename !== undefined && { 'response-content-disposition': contentDisposition('attachment', filename) }),
      }
      const { url } = await sign({ method: 'GET', name: nameOf(key), query }, true)
      // The signature was made with %20 for a space.
      url.search = url.search.replaceAll('+', '%20')
      return url
    },
  }
}

async function* empty(): AsyncGenerator<Uint8Array> {}

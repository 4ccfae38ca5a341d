import { mkdtemp, readdir, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { S3Options } from '@turnpike/storage/s3'
// @ts-expect-error It has no types.
import S3rver from 's3rver'
import { isSigned } from './s3-signature.js'

/** As s3rver's own middleware gets it (Koa). */
interface Context {
  method: string
  path: string
  query: Record<string, string>
  status: number
  type: string
  body: string
  respond: boolean
  req: IncomingMessage
  res: ServerResponse
}

export type Middleware = (context: Context, next: () => Promise<void>) => Promise<unknown>

/** A running S3 server with a bucket. `fault` is asked before each request. */
export interface S3Server {
  options: S3Options
  fault: Middleware
  requests: string[]
  /** Ids of the uploads that are neither finished nor aborted. */
  uploads(): Promise<string[]>
  close(): Promise<void>
}

const SECRET = 'S3RVER'

/**
 * Starts s3rver on a free port. It checks no signature of version 4 and knows no AbortMultipartUpload (jamhall/s3rver#810), so both are
 * added here.
 */
export async function s3Server(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'turnpike-s3-'))
  const folder = join(directory, 'files', '._S3rver_uploads')
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets: [{ name: 'files' }],
  })
  const running: S3Server = {
    options: { endpoint: '', bucket: 'files', region: 'us-east-1', accessKeyId: 'S3RVER', secretAccessKey: SECRET },
    fault: (_, next) => next(),
    requests: [],
    uploads: () => readdir(folder).catch(() => []),
    async close() {
      server.httpServer.closeAllConnections()
      await server.close()
      await rm(directory, { recursive: true })
    },
  }
  const abort: Middleware = async (context, next) => {
    const { uploadId } = context.query
    if (context.method !== 'DELETE' || !uploadId) return next()
    await rm(join(folder, uploadId), { recursive: true })
    context.status = 204
  }
  const authenticate: Middleware = async (context, next) => {
    if (isSigned(context.req, SECRET)) return next()
    context.status = 403
    context.type = 'application/xml'
    context.body = '<?xml version="1.0"?><Error><Code>SignatureDoesNotMatch</Code></Error>'
    return undefined
  }
  const count: Middleware = (context, next) => {
    running.requests.push(`${context.method} ${Object.keys(context.query).join()}`.trimEnd())
    return running.fault(context, next)
  }
  server.middleware.unshift(authenticate, count, abort)
  const { port } = await server.run()
  running.options.endpoint = `http://127.0.0.1:${port}`
  return running
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { S3Options } from '@turnpike/storage/s3'
import { AwsClient } from 'aws4fetch'
import { freePort } from '../support/free-port.js'
import { programs } from '../support/needs.js'

/** Answers a request, or calls `pass`, which forwards it and resolves before the answer is passed on. */
export type Fault = (request: IncomingMessage, response: ServerResponse, pass: () => Promise<void>) => unknown

/** A running S3 server with a bucket. */
export interface S3Server {
  options: S3Options
  /** Called for each request; default: forwards it. */
  fault: Fault
  /** Method and names of the query of each request, such as `PUT partNumber,uploadId`. */
  requests: string[]
  /** Ids of the uploads that are neither finished nor aborted. */
  uploads(): Promise<string[]>
  /** Names of the objects. */
  objects(): Promise<string[]>
  close(): Promise<void>
}

const accessKeyId = 'turnpike'
const secretAccessKey = 'a secret of the tests'
const region = 'us-east-1'

/** The query of a request. */
export const queryOf = ({ url }: IncomingMessage): URLSearchParams => new URL(url!, 'http://s3').searchParams

/** Starts versitygw in a temporary folder, behind a proxy that records requests and injects faults. */
export async function s3Server(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'turnpike-s3-'))
  await mkdir(join(directory, 'files'))
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  const gateway = spawn(programs.versitygw.path, ['--quiet', '--port', `127.0.0.1:${port}`, 'posix', directory], {
    env: { ...process.env, ROOT_ACCESS_KEY_ID: accessKeyId, ROOT_SECRET_ACCESS_KEY: secretAccessKey },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  gateway.stderr.on('data', (data) => (log += String(data)))
  while (!(await fetch(address).catch(() => undefined))) {
    if (gateway.exitCode !== null) throw new Error(`versitygw did not start: ${log}`)
    await sleep(10)
  }

  /** Forwards a request unchanged, as its Host header is signed. */
  const forward = (request: IncomingMessage, response: ServerResponse): Promise<void> =>
    new Promise((resolve, reject) => {
      const { method, headers } = request
      const forwarded = httpRequest(address + request.url, { method, headers }, (answer) => {
        resolve()
        setImmediate(() => {
          const { connection: _, ...fields } = answer.headers
          response.writeHead(answer.statusCode!, fields)
          answer.pipe(response)
        })
      })
      forwarded.on('error', reject)
      response.on('close', () => forwarded.destroy())
      request.pipe(forwarded)
    })
  const proxy = createServer(async (request, response) => {
    running.requests.push(`${request.method} ${[...queryOf(request).keys()].join()}`.trimEnd())
    try {
      await running.fault(request, response, () => forward(request, response))
    } catch {
      response.destroy()
    }
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')

  const client = new AwsClient({ accessKeyId, secretAccessKey, service: 's3', region })
  const list = async (query: string, element: RegExp): Promise<string[]> => {
    const xml = await (await client.fetch(`${address}/files${query}`)).text()
    return [...xml.matchAll(element)].map(([, text]) => text!)
  }
  const running: S3Server = {
    options: {
      endpoint: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      bucket: 'files',
      region,
      accessKeyId,
      secretAccessKey,
    },
    fault: (_request, _response, pass) => pass(),
    requests: [],
    uploads: () => list('?uploads=', /<UploadId>([^<]*)/g),
    objects: () => list('?list-type=2', /<Key>([^<]*)/g),
    async close() {
      proxy.closeAllConnections()
      proxy.close()
      gateway.kill()
      await once(gateway, 'exit')
      await rm(directory, { recursive: true })
    },
  }
  return running
}

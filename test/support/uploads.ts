import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { CountingVendor } from './counting-vendor.js'
import { countingVendor } from './counting-vendor.js'
import { formType } from './forms.js'
import type { Callee } from './raw-client.js'
import type { Server } from './server.js'
import { startServer } from './server.js'

/** A reply to an upload. */
export interface UploadReply {
  status: number
  headers: IncomingMessage['headers']
  body: string
}

type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/** Begins an upload on a connection of its own; the length is told only if the headers have it. */
export function beginUpload({ url, key }: Callee, headers: OutgoingHttpHeaders = {}): ClientRequest {
  return request(`${url}/v1/audio/transcriptions`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${key}`, 'content-type': formType(), ...headers },
  })
}

/** Uploads pieces as fast as they are taken, and stops when there is a reply. */
export async function upload(to: Callee, pieces: Pieces, headers: OutgoingHttpHeaders = {}): Promise<UploadReply> {
  const sent = beginUpload(to, headers)
  const replied = once(sent, 'response') as Promise<[IncomingMessage]>
  let open = true
  const over = replied.then(
    () => (open = false),
    () => (open = false),
  )
  sent.on('error', () => undefined)
  for await (const piece of pieces) {
    if (!open) break
    if (!sent.write(piece)) await Promise.race([new Promise((resolve) => sent.once('drain', resolve)), over])
  }
  if (open) sent.end()
  const [response] = await replied
  const body = await text(response)
  sent.destroy()
  return { status: response.statusCode!, headers: response.headers, body }
}

/** The reference server as a process with a temporary folder of its own, in front of a vendor that counts; for all tests of a file. */
export function useUploads() {
  let server: Server
  let vendor: CountingVendor
  let folder: string
  const at = {
    get server() {
      return server
    },
    get vendor() {
      return vendor
    },
    /** What the server has in its temporary folder. */
    leftovers: () => readdirSync(folder).filter((name) => name.startsWith('turnpike-')),
    /** Temporary files that the server has open, whether or not they have a name. */
    open: () =>
      readdirSync(`/proc/${server.process.pid}/fd`).flatMap((fd) => {
        try {
          const target = readlinkSync(`/proc/${server.process.pid}/fd/${fd}`)
          return target.includes('/turnpike-') ? [target] : []
        } catch {
          return []
        }
      }),
    /** What the server's process has in memory, in MiB. */
    rss: () => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.process.pid}/status`, 'utf8'))![1]) / 1024,
  }
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'uploads-'))
    vendor = await countingVendor()
    server = await startServer({ OPENAI_API_KEY: 'sk-upstream', OPENAI_BASE_URL: `${vendor.url}/v1`, TMPDIR: folder })
  })
  beforeEach(() => {
    vendor.calls = 0
    vendor.forms.length = 0
    vendor.hold = undefined
    vendor.instead = undefined
  })
  afterEach(() => expect(at.leftovers()).toEqual([]))
  afterAll(async () => {
    await server.stop()
    await vendor.close()
    rmSync(folder, { recursive: true })
  })
  return at
}

/** An error body of the gateway. */
export const refusal = (message: string, code = 'invalid_body') =>
  JSON.stringify({ error: { type: 'invalid_request_error', message, code } })

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A form as the vendor got it. */
export interface ReceivedForm {
  /** Texts by name. */
  fields: Record<string, string>
  name: string
  type: string
  /** Of the file. */
  size: number
  sha256: string
}

/** A vendor that transcribes and keeps no more of what it is sent than a hash. */
export interface CountingVendor {
  url: string
  /** Connections so far that sent the head of a request. */
  calls: number
  forms: ReceivedForm[]
  /** Waits before it reads; default not at all. */
  hold: Promise<unknown> | undefined
  /** What it does with a request in place of reading it; default nothing. */
  instead: ((response: ServerResponse) => void) | undefined
  close(): Promise<void>
}

/** A form whose file is its last part, as our own providers write it. */
async function readForm(request: IncomingMessage): Promise<ReceivedForm> {
  const boundary = /boundary=(.+)$/.exec(request.headers['content-type']!)![1]!
  const end = Buffer.byteLength(`\r\n--${boundary}--\r\n`)
  const hash = createHash('sha256')
  let head: string | undefined
  let rest = Buffer.alloc(0)
  let size = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, piece])
    if (head === undefined) {
      const at = rest.indexOf('\r\n\r\n', rest.indexOf('filename="'))
      if (rest.indexOf('filename="') === -1 || at === -1) continue
      head = rest.toString('utf8', 0, at)
      rest = rest.subarray(at + 4)
    }
    const known = Math.max(0, rest.length - end)
    hash.update(rest.subarray(0, known))
    size += known
    rest = rest.subarray(known)
  }
  const [, name, type] = /filename="(.*)"\r\nContent-Type: (.*)$/s.exec(head!)!
  const fields = [...head!.matchAll(/name="([^"]*)"\r\n\r\n(.*?)\r\n--/gs)].map(([, key, value]) => [key!, value!])
  return { fields: Object.fromEntries(fields), name: name!, type: type!, size, sha256: hash.digest('hex') }
}

/** Listens on a free port of the loopback interface. */
export async function countingVendor(): Promise<CountingVendor> {
  const server = createServer(async (request, response) => {
    vendor.calls++
    if (vendor.instead) return vendor.instead(response)
    await vendor.hold
    // A gateway that leaves is what some tests are about.
    const form = await readForm(request).catch(() => undefined)
    if (!form) return
    vendor.forms.push(form)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ task: 'transcribe', duration: 1.5, text: `${form.size} bytes` }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const vendor: CountingVendor = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: 0,
    forms: [],
    hold: undefined,
    instead: undefined,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return vendor
}

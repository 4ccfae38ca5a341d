import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'
import { setImmediate, setTimeout } from 'node:timers/promises'

/** Ends the connection in good order. */
export const end = Symbol('end')
/** Tears the connection down with a TCP reset. */
export const reset = Symbol('reset')

/** Bytes for one write, milliseconds or a promise to wait for, or an end. */
export type Step = string | Uint8Array | number | Promise<unknown> | typeof end | typeof reset

/** An upstream down to its bytes: it reads whole requests and plays a script to each, on a real socket. */
export interface RawUpstream {
  url: string
  /** What it does once it has a request; the connection stays open unless the script ends it. */
  script: Iterable<Step>
  /** Requests so far. */
  requests: number
  /** Connections so far. */
  connections: number
  /** Connections that are open and had a request: a client may open another for its next one, and close it when it likes. */
  readonly open: number
  close(): Promise<void>
}

/** The bytes of a request that come after its head, or nothing while they are not all there. */
function wholeRequest(bytes: Buffer): number | undefined {
  const head = bytes.indexOf('\r\n\r\n')
  if (head === -1) return undefined
  const text = bytes.toString('latin1', 0, head)
  if (/\r\ntransfer-encoding: *chunked/i.test(text)) {
    const last = bytes.indexOf('\r\n0\r\n\r\n', head)
    return last === -1 ? undefined : last + 7
  }
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0)
  const size = head + 4 + length
  return bytes.length < size ? undefined : size
}

async function play(socket: Socket, script: Iterable<Step>): Promise<void> {
  for (const step of script) {
    if (socket.destroyed) return
    if (step === end) socket.end()
    else if (step === reset) socket.resetAndDestroy()
    else if (typeof step === 'number') await setTimeout(step)
    else if (step instanceof Promise) await step
    else {
      await new Promise((resolve) => socket.write(step, resolve))
      await setImmediate()
    }
  }
}

/** Listens on a free port of the loopback interface. */
export async function rawUpstream(): Promise<RawUpstream> {
  const sockets = new Set<Socket>()
  /** Those that had a request. */
  const asked = new Set<Socket>()
  const server = createServer((socket) => {
    upstream.connections++
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('close', () => {
      sockets.delete(socket)
      asked.delete(socket)
    })
    // A gateway that leaves is what many of these tests are about.
    socket.on('error', () => undefined)
    let bytes: Buffer = Buffer.alloc(0)
    socket.on('data', (piece) => {
      bytes = Buffer.concat([bytes, piece])
      const size = wholeRequest(bytes)
      if (size === undefined) return
      bytes = bytes.subarray(size)
      upstream.requests++
      asked.add(socket)
      void play(socket, upstream.script)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const upstream: RawUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    script: [],
    requests: 0,
    connections: 0,
    get open() {
      return asked.size
    },
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
  return upstream
}

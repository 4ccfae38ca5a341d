// Usage: node await-points.mjs STORAGE UPSTREAM FROM N [awaits]
// A gateway of the built packages that serves one request. It prints JSON lines: its URL and a key, then, from the point FROM on, the name of
// each point that it reaches. At the Nth point it kills itself. With `awaits`, each continuation of a promise also counts as a point, without
// being printed. When its standard input ends, it prints the number of points and exits.
import { createHook } from 'node:async_hooks'
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { OutgoingMessage } from 'node:http'
import { Socket } from 'node:net'

const [storage, upstream, from, at, awaits] = process.argv.slice(2)
const say = (value) => writeSync(1, `${JSON.stringify(value)}\n`)

let reached = 0
let counting = false
let onEnded
const over = new Promise((resolve) => (onEnded = resolve))
const count = () => {
  if (++reached === Number(at)) process.kill(process.pid, 'SIGKILL')
}
const reach = (name) => {
  if (name === from) counting = true
  if (!counting) return
  say(name)
  count()
  if (name !== 'ended') return
  counting = false
  onEnded()
}
if (awaits) createHook({ before: () => counting && count(), init: () => undefined }).enable()

// Before the packages are imported, because the shell compares `write` with Node's original. It writes to the response or directly to the socket.
let within = false
for (const [{ prototype }, method, after] of [
  [OutgoingMessage, 'write', 'written'],
  [OutgoingMessage, 'end', 'ended'],
  [Socket, 'write', 'written'],
]) {
  const original = prototype[method]
  prototype[method] = function (...args) {
    // Skips nested writes of a response to its socket, and sockets that are not connections of clients.
    if (within || (this instanceof Socket && !this.server)) return original.apply(this, args)
    reach(method)
    within = true
    const result = original.apply(this, args)
    within = false
    reach(after)
    return result
  }
}

const { createSession, createUser, gatewayKeys, usageLedger, verifyStore } = await import('@turnpike/core')
const { openStorage } = await import('turnpike')
const { createGateway } = await import('@turnpike/gateway')
const { createRouter, fetchTransport, openai } = await import('@turnpike/providers')

const last = /data: \[DONE\]\n\n$/

/** A transport that reports when a request is sent and when its response has been read. */
const watched = (send) => async (request) => {
  reach('send')
  const { status, header, body, text } = await send(request)
  let whole = false
  return {
    status,
    header,
    ...(text && { text: () => text().finally(() => reach('read')) }),
    body: {
      [Symbol.asyncIterator]() {
        const pieces = body[Symbol.asyncIterator]()
        return {
          async next() {
            const result = await pieces.next()
            // A stream is complete after its last event, even if the connection is still open.
            if (!whole && (result.done || last.test(Buffer.from(result.value).toString()))) {
              whole = true
              reach('read')
            }
            return result
          },
          return: () => pieces.return(),
        }
      },
    },
  }
}

const { kv: store } = await openStorage(storage)
// The store that the previous process has left.
for await (const problem of verifyStore(store)) throw new Error(problem)
const kv = {
  ...store,
  async commit(commit) {
    reach('commit')
    const applied = await store.commit(commit)
    reach('committed')
    return applied
  },
}
const usage = usageLedger(kv)
const ledger = {
  ...usage,
  async append(record, hold) {
    reach('append')
    await usage.append(record, hold)
    reach('appended')
  },
}
const { id: userId } = await createUser(store, {})
const { id: session } = await createSession(store, userId)
const { id: keyId, key } = await gatewayKeys(store).create(userId, { name: 'points' })

const gatewayOn = (transport) =>
  createGateway({
    router: createRouter({
      providers: [openai({ apiKey: 'sk-upstream', baseURL: upstream, transport: watched(transport) })],
    }),
    kv,
    ledger,
    holds: from === 'commit',
  })

async function onNode() {
  const { createServer } = await import('@turnpike/http/node')
  const { undiciTransport } = await import('@turnpike/providers/undici')
  const server = createServer(gatewayOn(undiciTransport()))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server.address().port
}

/** Bun does not report when the end of a response has been written; it is assumed to take this many milliseconds. */
const SENT_MS = 20

/** A stream that reports its reads. */
function reported(body) {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) {
        reach('end')
        controller.close()
        setTimeout(reach, SENT_MS, 'ended')
        return
      }
      reach('write')
      controller.enqueue(value)
      reach('written')
    },
  })
}

async function onBun() {
  const gateway = gatewayOn(fetchTransport())
  const { port } = globalThis.Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const response = await gateway.fetch(request)
      if (response.headers.get('content-type').startsWith('text/event-stream'))
        return new Response(reported(response.body), response)
      reach('end')
      setTimeout(reach, SENT_MS, 'ended')
      return response
    },
  })
  return port
}

const port = await (globalThis.Bun ? onBun() : onNode())
say({ url: `http://127.0.0.1:${port}`, holder: { userId, keyId, key }, session })

process.stdin.resume()
await once(process.stdin, 'end')
await over
await kv.close()
say(reached)
process.exit()

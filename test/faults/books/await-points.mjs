// Usage: node await-points.mjs STORAGE UPSTREAM FROM N [awaits]. A gateway of the real packages that says where it listens and who may call, and
// serves one request. From the point FROM on it says what it reaches, and kills itself at the Nth point; with `awaits`, each continuation
// of a promise is a point too, without a word. It ends with its input, and then says how many points there were.
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

// Before the packages are there: the shell looks whether `write` is Node's own. It writes to the response, or past it to its socket.
let within = false
for (const [{ prototype }, method, after] of [
  [OutgoingMessage, 'write', 'written'],
  [OutgoingMessage, 'end', 'ended'],
  [Socket, 'write', 'written'],
]) {
  const original = prototype[method]
  prototype[method] = function (...args) {
    // What a response writes to its socket is told, and sockets to others write nothing to clients.
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
const { openStorage } = await import('@turnpike/example-server/storage')
const { createGateway } = await import('@turnpike/gateway')
const { createRouter, fetchTransport, openai } = await import('@turnpike/providers')

const last = /data: \[DONE\]\n\n$/

/** A transport that tells when a request leaves and when its answer has been read. */
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
            // After its last event a stream is whole, whether or not its connection has ended.
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
// What the one before has left.
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
const books = usageLedger(kv)
const ledger = {
  ...books,
  async append(record, hold) {
    reach('append')
    await books.append(record, hold)
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

/** Bun tells nobody when it has written the last of an answer. */
const SENT_MS = 20

/** A stream that tells what it hands on. */
function told(body) {
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
        return new Response(told(response.body), response)
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

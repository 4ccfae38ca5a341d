import { subscribe } from 'node:diagnostics_channel'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { BodyCheck, Contract } from './contract.js'
import { goldenContract } from './contract.js'
import { uuidv7Pattern } from './patterns.js'

/** What was found in answers since the last test. */
export const wrong: string[] = []

/** Other servers have ids of other forms. */
const ofGateway = (id: unknown): boolean => typeof id === 'string' && uuidv7Pattern.test(id)

/** Where the suites of test/embed serve a gateway below a path of a host. */
const withoutPrefix = (path: string): string => path.replace(/^\/ai(?=\/)/, '')

/** Bytes of a body that are kept to be checked; of larger ones, the rest is not. */
const KEPT = 4 * 1024 * 1024

/** Takes the pieces of a body as they pass. */
function passing(check: BodyCheck) {
  const pieces: Uint8Array[] = []
  let bytes = 0
  return {
    add(piece: Uint8Array): void {
      bytes += piece.length
      if (bytes <= KEPT) pieces.push(piece)
    },
    end: (whole: boolean): void => void wrong.push(...check(Buffer.concat(pieces).toString(), whole && bytes <= KEPT)),
  }
}

/** A body that is checked as far as it is read. */
function checkedBody(body: ReadableStream<Uint8Array>, check: BodyCheck) {
  const reader = body.getReader()
  const seen = passing(check)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done) {
            seen.end(true)
            controller.close()
          } else {
            seen.add(value)
            controller.enqueue(value)
          }
        } catch (error) {
          seen.end(false)
          throw error
        }
      },
      cancel(reason) {
        seen.end(false)
        return reader.cancel(reason)
      },
    },
    // Nothing is read before it is wanted.
    { highWaterMark: 0 },
  )
}

/** A response that is held against a document; its body when it is read. */
export function checked(method: string, url: string, response: Response, contract: Contract): Response {
  const held = contract({
    method,
    path: withoutPrefix(new URL(url).pathname),
    status: response.status,
    header: (name) => response.headers.get(name),
  })
  wrong.push(...held.wrong)
  const { body } = response
  if (!body) return response
  let made: Response | undefined
  const read = (): Response => (made ??= new Response(checkedBody(body, held.body), response))
  const get = (name: 'body' | 'bodyUsed') => ({ get: () => read()[name] })
  const call = (name: 'text' | 'json' | 'arrayBuffer' | 'blob' | 'clone') => ({ value: () => read()[name]() })
  return Object.defineProperties(response, {
    body: get('body'),
    bodyUsed: get('bodyUsed'),
    text: call('text'),
    json: call('json'),
    arrayBuffer: call('arrayBuffer'),
    blob: call('blob'),
    clone: call('clone'),
  })
}

let hooked = false

/** Checks the answers to all `fetch` and node:http clients of this process from now on. */
export function hookClients(): void {
  if (hooked) return
  hooked = true
  const { fetch } = globalThis
  globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (!ofGateway(response.headers.get('x-request-id'))) return response
    const method = init?.method ?? (input instanceof Request ? input.method : 'GET')
    return checked(method.toUpperCase(), response.url, response, goldenContract())
  }

  subscribe('http.client.response.finish', (message) => {
    const { request, response } = message as { request: ClientRequest; response: IncomingMessage }
    if (!ofGateway(response.headers['x-request-id'])) return
    const held = goldenContract()({
      method: request.method,
      path: withoutPrefix(request.path.split('?', 1)[0]!),
      status: response.statusCode!,
      header: (name) => response.headers[name.toLowerCase()]?.toString(),
    })
    wrong.push(...held.wrong)
    const seen = passing(held.body)
    // A listener would make the body flow; this sees it pass.
    const push = response.push.bind(response)
    response.push = (piece: Buffer | null, ...rest) => {
      if (piece) seen.add(piece)
      return push(piece, ...rest)
    }
    response.once('close', () => seen.end(response.complete))
  })
}

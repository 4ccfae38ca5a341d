/** A server with two weeks of work in it: people, keys, projects, files, requests and their failures. @module */
import { setClock } from './clock.mjs'
import { upstreams } from './upstreams.mjs'
import { DAYS, PASSWORD, PEOPLE, settle, work } from './work.mjs'

const { turnpike } = await import('turnpike')
const { createServer } = await import('@turnpike/http/node')
const DAY_MS = 86_400_000
/** How long an access token is used, in milliseconds: less than it is valid. */
const SIGNED_IN_MS = 300_000
const ORIGIN = 'http://127.0.0.1'

/**
 * Starts the world at a free port.
 * @returns its address; `live()`, after which answers take their time; `stop()`
 */
export async function startWorld() {
  const now = Date.now()
  setClock(now - DAYS * DAY_MS)
  const { transport, script } = upstreams()
  const app = await turnpike(
    {
      transport,
      store: 'memory',
      server: { log: 'silent' },
      admin: { email: PEOPLE.ada.email, password: PASSWORD, key: 'gw-key-of-the-pictures-0123456789' },
      platform: { passwordCost: 8, sessionSecret: 'a secret of pictures and of no server that people use' },
      providers: [
        { type: 'openai', apiKey: 'sk-pictures' },
        { type: 'anthropic', apiKey: 'sk-ant-pictures' },
        { type: 'google', apiKey: 'pictures' },
      ],
      routing: {
        groups: {
          fast: ['openai/gpt-5-mini', 'anthropic/claude-haiku-4-5'],
          careful: ['anthropic/claude-sonnet-4-5', 'openai/gpt-5.1'],
        },
      },
    },
    { onError: () => undefined },
  )

  /** Sends a request to the server, without a socket. @returns the body, a text where it is no JSON */
  async function send(token, method, path, body, headers = {}) {
    const isForm = body instanceof FormData
    const response = await app.fetch(
      new Request(ORIGIN + path, {
        method,
        headers: {
          ...(token && { authorization: `Bearer ${token}` }),
          ...(body && !isForm && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: isForm ? body : JSON.stringify(body) }),
      }),
    )
    const text = await response.text()
    if (!response.ok && path.startsWith('/api')) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text
  }
  /** Sends requests of somebody, who signs in anew where time has passed. */
  function as(person) {
    let token
    let until = 0
    return async (method, path, body, headers) => {
      if (Date.now() > until) {
        const credentials = { email: PEOPLE[person].email, password: PASSWORD }
        ;({ access_token: token } = await send(undefined, 'POST', '/api/auth', credentials))
        until = Date.now() + SIGNED_IN_MS
      }
      return send(token, method, path, body, headers)
    }
  }

  const people = await settle({ as, now })
  await work({ as, send, script, now }, people)
  setClock()
  const server = createServer(app)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `${ORIGIN}:${server.address().port}`,
    project: people.project,
    tasks: people.tasks,
    live: () => (script.live = true),
    async stop() {
      server.close()
      server.closeAllConnections()
      await app.close()
    },
  }
}

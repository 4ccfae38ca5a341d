// Usage: node platform-server.mjs bare|platform. Prints its port, and for `platform` an access token, a cookie and the ids of a task and its project; for each line on standard
// input, the CPU time that it has used so far, in microseconds.
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { createPlatform, passwordAuth } from '../../packages/platform/dist/index.js'
import { createUser, memoryKV } from '../../packages/core/dist/index.js'
import { createServer as createPlatformServer } from '../../packages/http/dist/node.js'

const say = (value) => console.log(JSON.stringify(value))
const listen = async (server) => {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server.address().port
}

/** What the platform answers, so that both send the same. */
const account = {
  id: '019b7c01-0400-7221-82c0-c8a20919a648',
  email: 'ada@example.org',
  first_name: 'Ada',
  last_name: 'Lovelace',
  username: 'ada',
  role: 'user',
  provider: 'password',
  deleted_at: null,
  created_at: '2026-01-02T00:00:00.000Z',
}

if (process.argv[2] === 'bare') {
  const body = JSON.stringify(account)
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'private, no-store',
    vary: 'Cookie, Authorization',
    'x-request-id': account.id,
  }
  const { 'content-type': _, 'content-length': __, ...unchanged } = { ...headers, etag: 'W/"8"' }
  const answer = (request, response) =>
    request.headers['if-none-match']
      ? response.writeHead(304, unchanged).end()
      : response.writeHead(200, headers).end(body)
  say({ port: await listen(createServer(answer)) })
} else {
  const kv = await memoryKV()
  const identity = passwordAuth({ kv })
  const { id, email, role: _, deleted_at: __, created_at: ___, ...names } = account
  const password = 'correct horse'
  await createUser(kv, { id, email, ...names }, { also: [await identity.sessions.passwordEntry(id, password)] })
  const head = { method: 'POST', header: () => undefined, ip: () => '' }
  const { session, cookies } = await identity.sessions.signIn({ email, password, cookie: true }, head)
  const platform = createPlatform({ kv, identity, apiRateLimits: { user: 1e9, address: 1e9 } })
  const { projects, tasks } = platform.operations
  const project = await projects.create(id, { name: 'Project' })
  const task = await tasks.create(id, project.id, { title: 'Task' })
  const port = await listen(createPlatformServer(platform))
  const cookie = cookies[0].split(';', 1)[0]
  say({ port, token: session.access_token, cookie, task: task.id, project: project.id })
}

createInterface({ input: process.stdin }).on('line', () => {
  const { user, system } = process.cpuUsage()
  say(user + system)
})

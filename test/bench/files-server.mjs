// Usage: node files-server.mjs bare FOLDER | node files-server.mjs turnpike STORAGE. Serves uploads and downloads of files: without Turnpike as node:http
// with `pipeline` to a file, or the platform with the stores that STORAGE and FILES name. Prints its port and the headers of a request.
import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { openFiles } from '../../examples/server/dist/open-files.js'
import { openStorage } from '../../examples/server/dist/open-storage.js'
import { createUser } from '../../packages/core/dist/index.js'
import { createServer as createPlatformServer } from '../../packages/http/dist/node.js'
import { createPlatform } from '../../packages/platform/dist/index.js'

const listen = async (server) => {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server.address().port
}
const say = (value) => console.log(JSON.stringify(value))
const [, , kind, where] = process.argv

if (kind === 'bare') {
  let files = 0
  const server = createServer(async (request, response) => {
    const path = request.method === 'POST' ? join(where, String(++files)) : join(where, request.url)
    if (request.method === 'POST') {
      await pipeline(request, createWriteStream(path))
      response.end(JSON.stringify({ url: `/${files}` }))
    } else {
      response.setHeader('content-length', (await stat(path)).size)
      await pipeline(createReadStream(path), response)
    }
  })
  say(await listen(server))
} else {
  const { kv } = await openStorage(where)
  const { blobs } = await openFiles({ ...process.env, STORAGE: where })
  const user = await createUser(kv, { email: 'ada@example.org' })
  const platform = createPlatform({
    apiRateLimits: { user: 1e9, address: 1e9 },
    kv,
    identity: { authenticate: () => ({ userId: user.id, via: 'custom' }) },
    files: { blobs },
    planLimits: { storageGb: 1_000 },
  })
  say(await listen(createPlatformServer(platform)))
}

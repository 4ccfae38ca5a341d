// Usage: node files-server.mjs bare FOLDER | node files-server.mjs turnpike STORAGE [ENTRIES]. Serves uploads and downloads of files, also ranges of them: without
// Turnpike as node:http with `pipeline` to a file, or the platform with the stores that STORAGE and FILES name, and so many entries beside the files. Prints its port.
import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { loadConfig, openFiles, openStorage } from 'turnpike'
import { createUser } from '../../packages/core/dist/index.js'
import { createServer as createPlatformServer } from '../../packages/http/dist/node.js'
import { createPlatform } from '../../packages/platform/dist/index.js'

const listen = async (server) => {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server.address().port
}
const say = (value) => console.log(JSON.stringify(value))
const [, , kind, where, entries = '0'] = process.argv

if (kind === 'bare') {
  let files = 0
  const server = createServer(async (request, response) => {
    const path = request.method === 'POST' ? join(where, String(++files)) : join(where, request.url)
    if (request.method === 'POST') {
      await pipeline(request, createWriteStream(path))
      response.end(JSON.stringify({ url: `/${files}` }))
    } else {
      const { size } = await stat(path)
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range) ?? []
      const [start, end] = first ? [Number(first), Number(last)] : [0, size - 1]
      response.writeHead(first ? 206 : 200, {
        'content-length': end - start + 1,
        ...(first && { 'content-range': `bytes ${start}-${end}/${size}` }),
      })
      await pipeline(createReadStream(path, { start, end }), response)
    }
  })
  say(await listen(server))
} else {
  const { kv } = await openStorage(where)
  const { blobs } = await openFiles(await loadConfig({ ...process.env, STORAGE: where }))
  const user = await createUser(kv, { email: 'ada@example.org' })
  for (let i = 0; i < Number(entries); i += 500)
    await kv.commit({
      set: Array.from({ length: 500 }, (_, j) => {
        const id = String(i + j).padStart(12, '0')
        const task = { id, title: `Task ${id}`, description: 'x'.repeat(100), status: 'scheduled' }
        return { key: ['in-project', 'project', 'task', id], value: task }
      }),
    })
  const platform = createPlatform({
    apiRateLimits: { user: 1e9, address: 1e9 },
    kv,
    identity: { authenticate: () => ({ userId: user.id, via: 'custom' }) },
    files: { blobs },
    planLimits: { storageGb: 1_000 },
  })
  say(await listen(createPlatformServer(platform)))
}

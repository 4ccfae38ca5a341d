import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endEngines } from '../support/engines.js'
import { noise } from '../support/forms.js'
import { download, fileStore, listed, upload } from './files.js'
import type { World } from './world.js'
import { startWorld } from './world.js'
import { needs, programs } from '../support/needs.js'

/** A process with files on a kind of store. */
async function start(name: string, env: Record<string, string>): Promise<World> {
  const made = await fileStore(name).create()
  return startWorld(made.storage, { RATE_LIMITER: 'memory', ...made.env, ...env })
}
afterAll(endEngines)

describe('URLs of files', () => {
  let world: World
  beforeAll(async () => {
    world = await start('memory', {
      FILES_PUBLIC_URL: 'https://cdn.example/files',
      TRUSTED_HOPS: '1',
      FILE_SECRETS: 'the new secret of files, of 32 characters,the old secret of files, of 32 characters',
    })
  })
  afterAll(() => world.kill())

  it('of public ones begin with the address of the CDN, which fetches what follows from the platform', async () => {
    const as = await world.signedIn()
    const { body } = await upload(world, as, 'for all', { before: { isPublic: 'true' } })
    expect(body.url).toBe(`https://cdn.example/files/${body.id}/content`)
    const fetched = await download(body.url.replace('https://cdn.example/files', `${world.url}/api/user-files`))
    expect(fetched).toMatchObject({ status: 200, text: 'for all' })
  })

  it('of private ones lead to the host and scheme that the client called, as the proxy says', async () => {
    const as = await world.signedIn()
    const headers = { host: 'files.example', 'x-forwarded-proto': 'https' }
    const { request } = await import('node:http')
    const { id } = (await upload(world, as, 'mine')).body
    const text = await new Promise<string>((resolve, reject) => {
      request(`${world.url}/api/user-files/${id}`, { headers: { ...headers, authorization: `Bearer ${as.access}` } })
        .on('error', reject)
        .on('response', async (response) => resolve((await response.toArray()).join('')))
        .end()
    })
    expect((JSON.parse(text) as { url: string }).url).toMatch(/^https:\/\/files\.example\/api\/user-files\/.*&sig=/)
  })
})

describe('URLs of S3 itself', needs(programs.versitygw), () => {
  let world: World
  beforeAll(async () => {
    world = await start('fs and S3', { FILES_DIRECT_URLS: 'true' })
  })
  afterAll(() => world.kill())

  it('lead past the platform, for whoever has them', async () => {
    const as = await world.signedIn()
    const bytes = noise(100_000)
    const { url } = (await upload(world, as, bytes, { type: 'application/zip', before: { displayName: 'a "b".bin' } }))
      .body
    expect(new URL(url).origin).not.toBe(world.url)
    const reply = await download(url)
    expect([reply.status, reply.bytes.equals(bytes), reply.headers.get('content-disposition')]).toEqual([
      200,
      true,
      `attachment; filename="a _b_.bin"; filename*=UTF-8''a%20%22b%22.bin`,
    ])
    expect((await download(url, { range: 'bytes=0-3' })).bytes.equals(bytes.subarray(0, 4))).toBe(true)
    const forged = url.replace(/(?<=X-Amz-Signature=)./, (first) => (first === '0' ? '1' : '0'))
    expect((await download(forged)).status).toBe(403)
    // Public files are the platform's.
    const open = (await upload(world, as, 'a', { before: { isPublic: 'true' } })).body
    expect(open.url.startsWith(world.url)).toBe(true)
  })
})

const redis = fileStore('redis')
describe('two processes', needs(programs.redis), () => {
  const worlds: World[] = []
  beforeAll(async () => {
    const { storage, env } = await redis.create()
    for (let i = 0; i < 2; i++) worlds.push(await startWorld(storage, { ...env, PLAN_STORAGE_GB: '0.001' }))
  })
  afterAll(() => Promise.all(worlds.map((world) => world.kill())))

  it('together store no more than the quota, and serve the files of both', async () => {
    const as = await worlds[0]!.signedIn()
    const bytes = noise(300_000)
    const replies = await Promise.all(Array.from({ length: 16 }, (_, i) => upload(worlds[i % 2]!, as, bytes)))
    const stored = replies.filter(({ status }) => status === 200)
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 403]))
    expect([2, 3]).toContain(stored.length)
    for (const world of worlds) {
      expect(await listed(world, as)).toHaveLength(stored.length)
      for (const { body } of stored) {
        const { pathname, search } = new URL(body.url)
        expect((await download(world.url + pathname + search)).bytes.equals(bytes)).toBe(true)
      }
      expect(await world.call('verify')).toEqual([])
    }
    const limits = await worlds[1]!.ask<object>('GET', '/api/account/limits', { as })
    expect(limits.body).toMatchObject({ storage_bytes_used: stored.length * 300_000 })
  })
})

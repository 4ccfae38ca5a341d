import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import { urlsOfHosts } from '../../packages/turnpike/src/hosts.js'
import { connectRedis } from '../../packages/turnpike/src/redis.js'
import { openStorage } from '../../packages/turnpike/src/storage.js'
import { freePort } from '../support/free-port.js'
import { needs, programs } from '../support/needs.js'
import { spawnRedis } from '../support/redis.js'

it.each([
  ['redis://a', ['redis://a']],
  ['redis://a:1,b:2/3?sentinel=main', ['redis://a:1/3?sentinel=main', 'redis://b:2/3?sentinel=main']],
  ['postgres://user:p,w@a,[::1]:2/db', ['postgres://user:p,w@a/db', 'postgres://user:p,w@[::1]:2/db']],
])('the hosts of %s', (url, urls) => {
  expect(urlsOfHosts(url)).toEqual(urls)
})

it.each([
  ['redis://a,b', 'Several hosts of Redis need ?cluster or ?sentinel=NAME'],
  ['redis://a?replicas=some', 'The replicas of a redis:// URL must be a whole number'],
])('%s is refused', async (url, message) => {
  await expect(openStorage(url)).rejects.toThrow(message)
})

it.each([
  ['28P01', 'password authentication failed for user "u"'],
  ['3D000', 'database "db" does not exist'],
])('PostgreSQL that refuses with %s is asked once', async (code, message) => {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    // An ErrorResponse, whatever the client asks for.
    const fields = Buffer.from(`SFATAL\0C${code}\0M${message}\0\0`)
    const head = Buffer.from('E----')
    head.writeInt32BE(4 + fields.length, 1)
    socket.on('error', () => undefined).once('data', () => socket.end(Buffer.concat([head, fields])))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  await expect(openStorage(`postgres://u:p@${host},${host}/db`)).rejects.toThrow(message)
  expect(connections).toBe(1)
  server.close()
})

it('Sentinels may have IPv6 addresses', async () => {
  const client = (await connectRedis('redis://[::1]:1,b?sentinel=main')) as Redis
  client.disconnect()
  expect(client.options.sentinels).toEqual([
    { host: '::1', port: 1 },
    { host: 'b', port: 26379 },
  ])
})

/** A server that keeps what comes first on each connection, and closes it. */
async function listener() {
  const received: Buffer[] = []
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (data) => {
      received.push(data)
      socket.destroy()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { received, port: (server.address() as AddressInfo).port, close: () => server.close() }
}

it('the nodes of a Cluster keep their names, which their certificates are for', async () => {
  const node = await listener()
  const client = await connectRedis(`rediss://localhost:${node.port}?cluster`)
  const hosts: unknown[] = []
  client.on('+node', ({ options }: Redis) => hosts.push(options.host))
  client.on('error', () => undefined)
  try {
    await expect.poll(() => hosts).not.toEqual([])
    expect(new Set(hosts)).toEqual(new Set(['localhost']))
  } finally {
    client.disconnect()
    node.close()
  }
})

it('rediss:// uses TLS to the server that a Sentinel names', needs(programs.redis), async () => {
  const primary = await listener()
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-sentinel-'))
  const file = join(folder, 'sentinel.conf')
  const port = await freePort()
  const monitor = `sentinel monitor main 127.0.0.1 ${primary.port} 1`
  await writeFile(file, `bind 127.0.0.1\nport ${port}\ndir ${folder}\n${monitor}\n`)
  const sentinel = await spawnRedis([file, '--sentinel'], '+monitor master main')
  const client = await connectRedis(`rediss://:secret@127.0.0.1:${port}?sentinel=main`)
  client.on('error', () => undefined)
  try {
    // 22 begins the handshake of TLS. The Sentinel connects too, without.
    await expect.poll(() => primary.received.map(([first]) => first)).toContain(22)
  } finally {
    client.disconnect()
    sentinel.kill('SIGKILL')
    await once(sentinel, 'exit')
    primary.close()
    await rm(folder, { recursive: true })
  }
})

import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { BlobContent } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { s3Blobs } from '@turnpike/storage/s3'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Fault, S3Server } from '../storage/s3-server.js'
import { queryOf, s3Server } from '../storage/s3-server.js'
import { needs, programs, testAll } from '../support/needs.js'
import { sample } from '../support/scope.js'

const MiB = 2 ** 20
const options = { type: 'text/plain', maxBytes: 256 * MiB }

const forward: Fault = (_request, _response, pass) => pass()

let server: S3Server
beforeAll(async () => {
  server = await s3Server()
})
afterEach(() => {
  server.fault = forward
  server.requests.length = 0
})
afterAll(() => server.close())

const open = (more: object = {}) => s3Blobs({ ...server.options, partBytes: 5 * MiB, ...more })

async function textOf(blob: BlobContent | null): Promise<string> {
  let text = ''
  for await (const piece of blob!.body) text += Buffer.from(piece)
  return text
}

/** Answers `times` requests that `what` matches as S3 does where it is at fault. */
function failing(what: RegExp, times: number, status = 503): Fault {
  let left = times
  return (_, response, pass) => {
    if (!what.test(server.requests.at(-1)!) || left-- <= 0) return pass()
    response.writeHead(status, { 'content-type': 'application/xml' })
    return response.end('<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>secret words</Message></Error>')
  }
}

/** What a put rejects with. */
const failureOf = async (put: Promise<unknown>): Promise<StorageError> => {
  const error = await put.catch((reason: unknown) => reason)
  if (!StorageError.is(error)) throw new Error('It did not fail', { cause: error })
  for (const text of [error.message, String(error.stack)]) {
    expect(text).not.toContain(server.options.secretAccessKey)
    expect(text).not.toContain('secret words')
  }
  return error
}

describe('a failing S3 server', needs(programs.versitygw), () => {
  const retried: [what: string, size: number, request: RegExp, status?: number][] = [
    ['a small blob', 5, /^PUT/],
    // The end of an upload may fail after it was answered with 200.
    ['the end of an upload, within an answer', 11 * MiB, /^POST uploadId/, 200],
    ['the begin of an upload', 11 * MiB, /^POST uploads/],
    ['a part', 11 * MiB, /^PUT/],
    ['the end of an upload', 11 * MiB, /^POST uploadId/],
  ]
  it.each(sample(retried, 2))('is retried for %s', async (_, size, what, status = 503) => {
    const bytes = randomBytes(size)
    server.fault = failing(what, 2, status)
    await open().put('key', bytes, options)
    const blob = await open().get('key')
    expect(blob?.size).toBe(size)
    expect(await server.uploads()).toEqual([])
  })

  it('is retried for a read', async () => {
    await open().put('key', Buffer.from('bytes'), options)
    for (const what of [/^HEAD/, /^GET/]) {
      server.fault = failing(what, 2)
      expect(await textOf(await open().get('key'))).toBe('bytes')
    }
  })

  it('is tried four times, and no part remains', needs(testAll), async () => {
    server.fault = failing(/^PUT/, Infinity)
    const error = await failureOf(open().put('small', Buffer.from('bytes'), options))
    expect(error).toMatchObject({ message: 'S3 answered PUT with 503 SlowDown', outcome: 'unknown' })
    expect(server.requests).toEqual(['PUT', 'PUT', 'PUT', 'PUT'])
    await failureOf(open().put('large', randomBytes(18 * MiB), options))
    expect(server.requests.at(-1)).toBe('DELETE uploadId')
    expect(await server.uploads()).toEqual([])
    expect(await open().get('large')).toBeNull()
  })

  it('is not retried after a refusal', async () => {
    server.fault = failing(/^PUT/, Infinity, 400)
    await failureOf(open().put('key', Buffer.from('x'), options))
    expect(server.requests).toEqual(['PUT'])
    server.fault = forward
    const error = await failureOf(open({ secretAccessKey: 'wrong' }).put('key', Buffer.from('x'), options))
    expect(error).toMatchObject({ message: 'S3 answered PUT with 403 SignatureDoesNotMatch', outcome: 'none' })
    const bucket = await failureOf(open({ bucket: 'none' }).put('key', Buffer.from('x'), options))
    expect(bucket.message).toBe('S3 answered PUT with 404 NoSuchBucket')
    expect(server.requests).toEqual(['PUT', 'PUT', 'PUT'])
  })

  it('times out where it hangs', needs(testAll), async () => {
    server.fault = () => new Promise(() => undefined)
    const hanging = open({ timeout: 50 })
    const error = await failureOf(hanging.put('key', Buffer.from('x'), options))
    expect(error).toMatchObject({ message: 'S3 has not answered for 50 ms', outcome: 'unknown' })
    await failureOf(hanging.get('key'))
  })

  it('is distinguished from one that cannot be reached', async () => {
    const error = await failureOf(open({ endpoint: 'http://127.0.0.1:1' }).put('key', Buffer.from('x'), options))
    expect(error.message).toBe('S3 could not be reached for PUT')
  })

  it.each([
    ['breaks off', (response: ServerResponse) => void response.destroy(), /./],
    ['stops', () => undefined, 'S3 has sent nothing for 1000 ms'],
  ])('is a failed read where it %s within a blob', async (_, end, message) => {
    await open().put('key', randomBytes(4 * MiB), options)
    server.fault = ({ method }, response, pass) => {
      if (method !== 'GET') return pass()
      response.writeHead(206, { 'content-length': 4 * MiB })
      return response.write(randomBytes(MiB), () => setTimeout(() => end(response), 20))
    }
    await expect(textOf(await open({ timeout: 1_000 }).get('key'))).rejects.toThrow(message)
  })
})

it('is read with backpressure', needs(programs.versitygw), async () => {
  await open().put('key', randomBytes(4 * MiB), options)
  let size = 0
  for await (const piece of (await open({ timeout: 1_000 }).get('key'))!.body) {
    if (size === 0) await new Promise((resolve) => setTimeout(resolve, 1_500))
    size += piece.length
  }
  expect(size).toBe(4 * MiB)
})

it('needs memory for three parts of a blob during a write', needs(programs.versitygw), async () => {
  let given = 0
  let written = 0
  let ahead = 0
  let underWay = 0
  let most = 0
  server.fault = async ({ method }, _, pass) => {
    if (method === 'PUT') most = Math.max(most, ++underWay)
    await pass()
    if (method !== 'PUT') return
    underWay--
    written += 5 * MiB
  }
  async function* body() {
    const piece = randomBytes(65_536)
    for (; given < 60 * MiB; given += piece.length) {
      ahead = Math.max(ahead, given - written)
      yield piece
    }
  }
  await open().put('key', body(), options)
  expect(most).toBe(2)
  expect(ahead).toBeGreaterThan(10 * MiB)
  expect(ahead).toBeLessThanOrEqual(15 * MiB)
  expect((await open().get('key'))?.size).toBe(60 * MiB)
})

it('keeps no part of a blob that is too large or aborted', needs(programs.versitygw), async () => {
  const bytes = randomBytes(11 * MiB)
  await expect(open().put('key', bytes, { ...options, maxBytes: bytes.length - 1 })).rejects.toThrow('larger')
  expect(server.requests).toEqual([])
  async function* endless() {
    yield bytes
    await new Promise(() => undefined)
  }
  const controller = new AbortController()
  server.fault = async (request, _, pass) => {
    await pass()
    if (queryOf(request).get('partNumber') === '2') setTimeout(() => controller.abort(new Error('given up')), 10)
  }
  await expect(open().put('key', endless(), { ...options, signal: controller.signal })).rejects.toThrow('given up')
  expect(server.requests.at(-1)).toBe('DELETE uploadId')
  expect(await server.uploads()).toEqual([])
})

it.each([
  ['has begun it', 'POST uploads'],
  ['has stored a part', 'PUT partNumber,uploadId'],
])('threat 184: waits until S3 %s, before an upload is aborted', needs(programs.versitygw), async (_, what) => {
  const bytes = randomBytes(11 * MiB)
  const ends: string[] = []
  const controller = new AbortController()
  server.fault = async (__, ___, pass) => {
    const asked = server.requests.at(-1)!
    if (asked === what) {
      controller.abort(new Error('given up'))
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await pass()
    ends.push(asked)
  }
  await expect(open().put('key', bytes, { ...options, signal: controller.signal })).rejects.toThrow('given up')
  expect(ends.at(-1)).toBe('DELETE uploadId')
  expect(ends).toHaveLength(server.requests.length)
  expect(await server.uploads()).toEqual([])
})

it('names an object for each key', needs(programs.versitygw), async () => {
  const names = new Set<string>()
  server.fault = ({ url }, response) => {
    names.add(url!)
    response.end()
  }
  const keys = ['a', 'a/b', 'a/b/c', 'a/', 'a//b', '/a', 'A', 'a?b', 'a%2Fb', '.', '..', '../x', './x', '']
  for (const key of keys) await open({ prefix: 'p/' }).delete(key)
  expect([...names].filter((name) => name.startsWith('/files/p/'))).toHaveLength(keys.length)
})

describe('a signed URL', needs(programs.versitygw), () => {
  it('serves the blob without a key, with any file name, and no other', async () => {
    await open().put('a/ü b', Buffer.from('bytes'), options)
    const url = await open().signedUrl('a/ü b', { expiresIn: 60, filename: 'ä "b"\r\nx: (1)\ud800.txt' })
    const response = await fetch(url)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/plain')
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="_ _b___x: (1)_.txt"; filename*=UTF-8''%C3%A4%20%22b%22__x%3A%20%281%29%EF%BF%BD.txt`,
    )
    expect(await response.text()).toBe('bytes')
    expect(String(url)).not.toContain('secret')
    await open().put('other', Buffer.from('secret'), options)
    const changes: [change: (url: URL) => unknown, status: number][] = [
      [(it) => (it.pathname = '/files/other'), 403],
      [(it) => it.searchParams.set('X-Amz-Expires', '999'), 403],
      // The form of the request is wrong then.
      [(it) => it.searchParams.delete('X-Amz-Signature'), 400],
      [(it) => (it.search = ''), 403],
    ]
    for (const [change, status] of changes) {
      const changed = new URL(url)
      change(changed)
      expect((await fetch(changed)).status).toBe(status)
    }
    const plain = await fetch(await open().signedUrl('other', { expiresIn: 604_800 }))
    expect(plain.headers.get('content-disposition')).toBeNull()
    expect(await plain.text()).toBe('secret')
  })

  it('expires', needs(testAll), async () => {
    const url = await open().signedUrl('key', { expiresIn: 1 })
    await new Promise((resolve) => setTimeout(resolve, 2_100))
    expect((await fetch(url)).status).toBe(403)
    for (const expiresIn of [0, 604_801, 1.5])
      await expect(open().signedUrl('key', { expiresIn })).rejects.toThrow(RangeError)
  })
})

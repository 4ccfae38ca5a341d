import { createHash } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
import { describe, expect, it } from 'vitest'
import { field, filePart, formBytes, formType, noise } from './support/forms.js'
import { needs, testAll } from './support/needs.js'
import { runtime } from './support/runtime.js'
import { beginUpload, refusal, upload, useUploads } from './support/uploads.js'

const MIB = 1024 * 1024
const LIMIT = 25 * MIB
const linux = process.platform === 'linux'

const at = useUploads()

/** A megabyte that is sent again and again. */
const block = noise(MIB)

/** A form with a file of `size` bytes, in pieces, and what its file hashes to. */
function large(size: number) {
  const whole = formBytes([field('model', 'whisper-1'), filePart('|', 'Ça va.mp3'), field('prompt', 'after')])
  const split = whole.indexOf('|')
  const [head, tail] = [whole.subarray(0, split), whole.subarray(split + 1)]
  const hash = createHash('sha256')
  const blocks = Array.from({ length: Math.ceil(size / MIB) }, (_, i) =>
    block.subarray(0, Math.min(MIB, size - i * MIB)),
  )
  for (const one of blocks) hash.update(one)
  return { pieces: [head, ...blocks, tail], length: head.length + size + tail.length, sha256: hash.digest('hex') }
}

const within = large(Math.floor(24.9 * MIB))
const whole = expect.objectContaining({ name: 'Ça va.mp3', type: 'audio/mpeg', sha256: within.sha256 }) as object

describe(`an upload of 24.9 MiB on ${runtime}`, () => {
  it.each([
    ['with its length', { 'content-length': within.length }],
    ['in chunks', {}],
  ])('reaches the upstream byte for byte, %s', async (_, headers) => {
    const { status, body } = await upload(at.server, within.pieces, headers)
    expect([status, JSON.parse(body)]).toEqual([
      200,
      { text: `${Math.floor(24.9 * MIB)} bytes`, usage: { type: 'duration', seconds: 2 } },
    ])
    expect(at.vendor.forms).toEqual([whole])
    expect(at.vendor.forms[0]!.fields).toEqual({ model: 'whisper-1', prompt: 'after', response_format: 'verbose_json' })
  })

  it.runIf(linux)('is in an unlinked file while the upstream reads it, and nowhere afterwards', async () => {
    let read = (): void => undefined
    at.vendor.hold = new Promise<void>((resolve) => (read = resolve))
    const reply = upload(at.server, within.pieces)
    await expect.poll(() => at.vendor.calls).toBe(1)
    expect(at.open()).toEqual([expect.stringMatching(/\(deleted\)$/)])
    expect(at.leftovers()).toEqual([])
    read()
    expect((await reply).status).toBe(200)
    await expect.poll(() => at.open()).toEqual([])
  })

  it.runIf(linux)('needs no more memory, one after another', needs(testAll), async () => {
    /** The most memory while so many files are uploaded. */
    const peak = async (uploads: number): Promise<number> => {
      let most = at.rss()
      const timer = setInterval(() => (most = Math.max(most, at.rss())), 10)
      for (let i = 0; i < uploads; i++) expect((await upload(at.server, within.pieces)).status).toBe(200)
      clearInterval(timer)
      return most
    }
    const before = await peak(8)
    const after = await peak(5)
    const figures = `at most ${before.toFixed()} MiB before, ${after.toFixed()} MiB then, ${at.rss().toFixed()} MiB at last`
    console.log(`RSS of ${runtime}, five uploads in sequence: ${figures}`)
    // All of them together are 124 MiB. Bun takes its time to collect.
    expect(after - before, figures).toBeLessThan(60)
    await expect.poll(() => at.rss() - before, { message: figures }).toBeLessThan(20)
  })

  it.runIf(linux)('needs a limited amount of memory, eight at once', needs(testAll), async () => {
    const before = at.rss()
    let most = before
    let files = 0
    const timer = setInterval(() => {
      most = Math.max(most, at.rss())
      files = Math.max(files, at.open().length)
    }, 20)
    const replies = await Promise.all(Array.from({ length: 8 }, () => upload(at.server, within.pieces)))
    clearInterval(timer)
    expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(at.vendor.forms).toEqual(Array(8).fill(whole))
    const figures = `before ${before.toFixed()}, most ${most.toFixed()} MiB, files ${files}`
    console.log(`RSS of ${runtime}, eight uploads at once: ${figures}`)
    // All of them together are 199 MiB.
    expect(most - before, figures).toBeLessThan(130)
    expect(files).toBeGreaterThan(1)
    await expect.poll(() => at.open()).toEqual([])
  })
})

describe(`an upload over 25 MiB on ${runtime}`, () => {
  const over = large(LIMIT + 1)
  const message = `The file is larger than ${LIMIT} bytes`

  it.each([
    ['with its length', { 'content-length': over.length }],
    ['in chunks', {}],
  ])('is a 400 before the upstream receives anything, %s', async (_, headers) => {
    const reply = await upload(at.server, over.pieces, headers)
    expect([reply.status, reply.body]).toEqual([400, refusal(message, 'request_too_large')])
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(at.vendor.calls).toBe(0)
    if (linux) await expect.poll(() => at.open()).toEqual([])
  })

  it('is a 400 by its content-length, which clients receive while they still send', async () => {
    const reply = await fetch(`${at.server.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${at.server.key}`, 'content-type': formType() },
      body: new Blob(large(40 * MIB).pieces as Uint8Array<ArrayBuffer>[]),
    })
    expect([reply.status, await reply.text()]).toEqual([400, refusal(message, 'request_too_large')])
    expect(at.vendor.calls).toBe(0)
  })

  it('is accepted at exactly 25 MiB', async () => {
    const { pieces, sha256 } = large(LIMIT)
    expect((await upload(at.server, pieces)).status).toBe(200)
    expect(at.vendor.forms).toEqual([expect.objectContaining({ size: LIMIT, sha256 })])
  })
})

describe(`a client that disconnects, on ${runtime}`, () => {
  it('in the middle of its upload, leaves nothing behind', async () => {
    const sent = beginUpload(at.server, { 'content-length': within.length })
    sent.on('error', () => undefined)
    for (const piece of within.pieces.slice(0, 10)) await new Promise((resolve) => sent.write(piece, resolve))
    if (linux) await expect.poll(() => at.open()).toHaveLength(1)
    sent.destroy()
    if (linux) await expect.poll(() => at.open()).toEqual([])
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(at.vendor.calls).toBe(0)
  })

  it('while the upstream reads the file, aborts the call', async () => {
    at.vendor.hold = new Promise(() => undefined)
    const sent = beginUpload(at.server)
    sent.on('error', () => undefined)
    for (const piece of within.pieces) await new Promise((resolve) => sent.write(piece, resolve))
    sent.end()
    await expect.poll(() => at.vendor.calls).toBe(1)
    sent.destroy()
    if (linux) await expect.poll(() => at.open()).toEqual([])
    expect((await fetch(`${at.server.url}/health`)).status).toBe(200)
    expect(at.server.output()).not.toMatch(/unhandled|uncaught/i)
  })
})

describe(`an upstream that does not read the file, on ${runtime}`, () => {
  const answer = JSON.stringify({ error: { message: 'Too long', type: 'x', param: null, code: null } })
  const expectTold = async (headers: OutgoingHttpHeaders): Promise<void> => {
    at.vendor.instead = (response) => {
      response.writeHead(400, { 'content-type': 'application/json', ...headers }).end(answer)
    }
    const { status, body } = await upload(at.server, within.pieces)
    expect([status, body]).toEqual([400, refusal('Too long')])
    if (linux) await expect.poll(() => at.open()).toEqual([])
  }

  it('but refuses it at once, has its answer passed on', () => expectTold({}))

  // A connection that is closed with bytes unread is reset, and now and then the reset reaches the gateway before the answer does.
  it('but refuses it at once and closes the connection, has its answer passed on', { retry: 3 }, () =>
    expectTold({ connection: 'close' }),
  )

  it('but breaks the connection, is a 502', async () => {
    at.vendor.instead = (response) => void setTimeout(() => response.destroy(), 50)
    const { status } = await upload(at.server, within.pieces)
    expect(status).toBe(502)
    expect(at.vendor.calls).toBe(1)
    if (linux) await expect.poll(() => at.open()).toEqual([])
  })
})

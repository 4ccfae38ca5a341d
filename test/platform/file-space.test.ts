import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { filePart, formBytes, noise } from '../support/forms.js'
import { thorough } from '../support/scope.js'
import { filesSuite, lengthOf, listed, sendForm, upload } from './files.js'
import type { SignedIn, World } from './world.js'

const QUOTA = 1_000_000

/** A body without an announced length, in pieces. */
const inPieces = (pieces: Iterable<Uint8Array>): ReadableStream<Uint8Array> => {
  const all = pieces[Symbol.iterator]()
  return new ReadableStream({
    pull(controller) {
      const { done, value } = all.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
}

const usedBy = async (world: World, as: SignedIn): Promise<number> =>
  (await world.ask<{ storage_bytes_used: number }>('GET', '/api/account/limits', { as })).body.storage_bytes_used

filesSuite(
  'space for files',
  (world) => {
    it('#183 stores nothing over the quota', async () => {
      const as = await world().signedIn()
      const bytes = noise(QUOTA)
      expect((await upload(world(), as, bytes)).status).toBe(200)
      for (const body of [bytes.subarray(0, 1), bytes, inPieces([formBytes([filePart('1')])])]) {
        const { status, body: answer } =
          body instanceof ReadableStream ? await sendForm(world(), as, body) : await upload(world(), as, body)
        expect([status, answer]).toEqual([
          403,
          { error: `Your plan has ${QUOTA} bytes for files, trash included, and this would be more` },
        ])
      }
      // There is no space for it either, and none is needed.
      expect((await upload(world(), as, '')).status).toBe(200)
      expect(await listed(world(), as)).toHaveLength(2)
      expect(await usedBy(world(), as)).toBe(QUOTA)
      expect(await world().call('verify')).toEqual([])
    })

    it('is taken by the trash too, and given back by a removal for good', async () => {
      const as = await world().signedIn()
      const { body } = await upload(world(), as, noise(QUOTA - 10))
      await world().ask('DELETE', `/api/user-files/${body.id}`, { as })
      expect([await usedBy(world(), as), (await upload(world(), as, noise(11))).status]).toEqual([QUOTA - 10, 403])
      expect((await upload(world(), as, noise(10))).status).toBe(200)
      await world().ask('DELETE', `/api/user-files/${body.id}?permanent=true`, { as })
      expect(await usedBy(world(), as)).toBe(10)
      expect((await upload(world(), as, noise(QUOTA - 10))).status).toBe(200)
      expect(await world().call('verify')).toEqual([])
    })

    it('is the plan and what the balance adds', async () => {
      const as = await world().signedIn()
      await world().call('addBalance', as.id, { storage_gb: 1 })
      expect((await upload(world(), as, noise(QUOTA + 1))).status).toBe(200)
      const { body } = await world().ask<object>('GET', '/api/account/limits', { as })
      expect(body).toMatchObject({ storage_gb: 1.001, storage_bytes_used: QUOTA + 1 })
    })

    it('is never exceeded by parallel uploads, announced and in chunks', async () => {
      const as = await world().signedIn()
      const form = formBytes([filePart(noise(300_000))])
      const replies = await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          i % 2 === 0
            ? sendForm(world(), as, form)
            : sendForm(world(), as, inPieces([form.subarray(0, 999), form.subarray(999)])),
        ),
      )
      const stored = replies.filter(({ status }) => status === 200).length
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 403]))
      expect(stored).toBeGreaterThan(0)
      expect(stored).toBeLessThanOrEqual(3)
      expect(await listed(world(), as)).toHaveLength(stored)
      expect(await usedBy(world(), as)).toBe(stored * 300_000)
      expect(await world().call('verify')).toEqual([])
    })

    it('is given back where an upload breaks off', async () => {
      const as = await world().signedIn()
      const form = formBytes([filePart(noise(500_000))])
      for (let i = 0; i < 5; i++) {
        const controller = new AbortController()
        const sent = fetch(`${world().url}/api/user-files`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${as.access}`,
            'content-type': 'multipart/form-data; boundary=form-boundary',
          },
          body: new ReadableStream({
            start: (stream) => stream.enqueue(form.subarray(0, 300_000)),
          }),
          duplex: 'half',
          signal: controller.signal,
        } as RequestInit)
        await expect.poll(() => usedBy(world(), as)).toBeGreaterThan(0)
        controller.abort()
        await expect(sent).rejects.toThrow()
        await expect.poll(() => usedBy(world(), as)).toBe(0)
      }
      expect(await listed(world(), as)).toEqual([])
      expect(await world().call('verify')).toEqual([])
    })

    it('takes no file over the limit of one, before it is sent', async () => {
      const as = await world().signedIn()
      const { request } = await import('node:http')
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const sent = request(`${world().url}/api/user-files`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${as.access}`,
            'content-type': 'multipart/form-data; boundary=x',
            'content-length': '1100000000',
          },
        })
        sent.on('response', (response) => {
          response.resume().on('end', () => {
            resolve(response.statusCode)
            sent.destroy()
          })
        })
        sent.on('error', reject)
        sent.write('--x\r\n')
      })
      expect(status).toBe(413)
    })
  },
  { PLAN_STORAGE_GB: '0.001' },
)

filesSuite('large files', (world) => {
  const MB = 1_000_000
  /** What is tried of them in `npm test` is a tenth; how much memory they take is in the bench. */
  const size = thorough ? 200 : 20

  it('#190 pass without being kept in memory', { timeout: 120_000 }, async () => {
    const as = await world().signedIn()
    const block = noise(MB)
    const hash = createHash('sha256')
    for (let i = 0; i < size; i++) hash.update(block)
    const expected = hash.digest('hex')
    const whole = formBytes([filePart('|', 'large.bin', 'application/octet-stream')])
    const split = whole.indexOf('|')
    function* pieces() {
      yield whole.subarray(0, split)
      for (let i = 0; i < size; i++) yield block
      yield whole.subarray(split + 1)
    }
    const { status, body } = await sendForm(world(), as, inPieces(pieces()))
    expect([status, body.size_bytes]).toEqual([200, size * MB])
    const response = await fetch(body.url)
    expect([response.status, lengthOf(response.headers, size * MB)]).toEqual([200, String(size * MB)])
    const got = createHash('sha256')
    for await (const piece of response.body!) got.update(piece)
    expect([got.digest('hex'), response.headers.get('etag')]).toEqual([expected, `"${expected}"`])
  })
})

import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { expectError } from './expect.js'
import type { Setup } from './setup.js'
import { BODY_LIMIT, PACE, question } from './setup.js'

/** Posts a chat completion to the gateway through its host. */
type Post = (body: string | ReadableStream, init?: RequestInit) => Promise<Response>

const chunks = (text: string): ReadableStream<Uint8Array> =>
  new Blob([text]).stream().pipeThrough(
    new TransformStream({
      transform(bytes, controller) {
        for (let i = 0; i < bytes.length; i += 500) controller.enqueue(bytes.subarray(i, i + 500))
      },
    }),
  )

/** Pieces of a body, each `ms` after the one before; without an end where it is not `whole`. */
const slowly = (pieces: string[], ms: number, whole: boolean): ReadableStream<Uint8Array> =>
  new ReadableStream({
    async start(controller) {
      for (const piece of pieces) {
        controller.enqueue(new TextEncoder().encode(piece))
        await delay(ms)
      }
      if (whole) controller.close()
    },
  })

/** What a gateway must do with JSON bodies, in every host. @param options.ownBodies true where the host has parsed them */
export function bodyCases(setup: () => Setup, post: Post, { ownBodies }: { ownBodies: boolean }): void {
  it('answers 400 to a body that does not fit', async () => {
    const response = await post(JSON.stringify({ ...question, n: 0 }))
    const message = 'n must be at least 1, not 0'
    await expectError(response, 400, 'invalid_request_error', 'invalid_body', message)
  })

  it('answers 400 to a body of another type', async () => {
    const response = await post(JSON.stringify(question), { headers: { 'content-type': 'text/plain' } })
    const message = 'Content-Type must be application/json'
    await expectError(response, 400, 'invalid_request_error', 'invalid_body', message)
  })

  if (!ownBodies) {
    it('answers 400 to a body that is not JSON', async () => {
      const response = await post('{"model":')
      const message = 'The request body is not valid JSON'
      await expectError(response, 400, 'invalid_request_error', 'invalid_json', message)
    })

    it('answers 400 to an empty body', async () => {
      const message = 'The request body is empty; a JSON object is expected'
      await expectError(await post(''), 400, 'invalid_request_error', 'invalid_json', message)
    })
  }

  const bodyOf = (bytes: number): string => {
    const bare = JSON.stringify({ ...question, user: '' })
    return bare.replace('"user":""', `"user":"${'x'.repeat(bytes - bare.length)}"`)
  }

  it.each([
    { way: 'at once', send: (text: string) => post(text) },
    { way: 'in pieces', send: (text: string) => post(chunks(text)) },
  ])('takes a body up to the limit and answers 413 above it, sent $way', async ({ send }) => {
    expect((await send(bodyOf(BODY_LIMIT))).status).toBe(200)
    const before = setup().upstream.requests.length
    const response = await send(bodyOf(BODY_LIMIT + 1))
    const message = `The request body is larger than ${BODY_LIMIT} bytes`
    await expectError(response, 413, 'invalid_request_error', 'request_too_large', message)
    expect(setup().upstream.requests).toHaveLength(before)
  })

  const { bodyIdleMs } = PACE

  it('reads a body that comes slowly, however long it takes', async () => {
    const pieces = JSON.stringify(question).match(/.{1,12}/g)!
    expect(pieces.length * (bodyIdleMs / 3)).toBeGreaterThan(bodyIdleMs * 2)
    expect((await post(slowly(pieces, bodyIdleMs / 3, true))).status).toBe(200)
  })

  if (!ownBodies)
    it.each<[what: string, body: () => ReadableStream]>([
      ['stands still', () => slowly(['{"model":', '"gpt-4o-mini"'], 1, false)],
      // Each byte arrives well before the longest pause.
      ['comes byte by byte', () => slowly([...JSON.stringify(question)], bodyIdleMs / 5, true)],
    ])('threat 9: slowloris, answers 408 to a body that %s', async (_, body) => {
      const before = setup().upstream.requests.length
      const response = await post(body())
      const message = 'The request took too long to arrive'
      await expectError(response, 408, 'invalid_request_error', 'invalid_body', message)
      expect(setup().upstream.requests).toHaveLength(before)
    })
}

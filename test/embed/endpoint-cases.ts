import { expect, it, onTestFinished, vi } from 'vitest'
import { field, filePart, formBytes, formType, noise } from '../support/forms.js'
import type { Setup } from './setup.js'

/** Calls a path of the gateway through its host. */
export type HostCall = (path: string, init: RequestInit) => Promise<Response>

const pieces = (bytes: Uint8Array, size: number): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (let i = 0; i < bytes.length; i += size) controller.enqueue(bytes.subarray(i, i + size))
      controller.close()
    },
  })

/** An upstream's audio: a promise is waited for, an error breaks it off. */
const audio = (...all: (Uint8Array | Promise<unknown> | Error)[]) => ({
  status: 200,
  headers: { 'content-type': 'audio/mpeg' },
  body: (async function* () {
    for (const piece of all)
      if (piece instanceof Error) throw piece
      else if (piece instanceof Promise) await piece
      else yield piece
  })(),
})

/** What a gateway must do with forms and with bytes, in every host. */
export function endpointCases(setup: () => Setup, call: HostCall): void {
  const transcribe = (body: Uint8Array | ReadableStream) =>
    call('/v1/audio/transcriptions', {
      method: 'POST',
      headers: { 'content-type': formType() },
      body,
      ...(body instanceof ReadableStream && { duplex: 'half' }),
    } as RequestInit)
  const content = noise(600_000)
  const form = formBytes([field('model', 'whisper-1'), filePart(content), field('language', 'de')])

  it.each([
    { way: 'at once', send: () => transcribe(form) },
    { way: 'in pieces', send: () => transcribe(pieces(form, 50_000)) },
  ])('takes a form and its file, sent $way', async ({ send }) => {
    const response = await send()
    expect([response.status, await response.json()]).toEqual([
      200,
      { text: 'This is a simulated transcription of speech.mp3.', usage: { type: 'duration', seconds: 38 } },
    ])
    const { bytes, headers } = setup().upstream.requests.at(-1)!
    const type = headers['content-type']!
    const sent = await new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { 'content-type': type } }).formData()
    expect(sent.get('language')).toBe('de')
    expect(Buffer.from(await (sent.get('file') as File).arrayBuffer()).equals(content)).toBe(true)
  })

  it('answers 400 to a form that ends early, without an upstream call', async () => {
    const before = setup().upstream.requests.length
    const response = await transcribe(form.subarray(0, 300_000))
    const message = 'The request body was cut short'
    expect(await response.json()).toEqual({
      error: { type: 'invalid_request_error', message, code: 'invalid_body' },
    })
    expect([response.status, setup().upstream.requests.length]).toEqual([400, before])
  })

  const speak = () =>
    call('/v1/audio/speech', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'tts-1', input: 'Hello' }),
    })
  const newest = async () => (await setup().gateway.ledger.records(setup().userId, { limit: 1 })).items[0]

  it('passes audio on as it comes', async () => {
    let go = (): void => undefined
    const waiting = new Promise<void>((resolve) => (go = resolve))
    setup().fault = audio(content.subarray(0, 1_000), waiting, content.subarray(1_000))
    const response = await speak()
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/mpeg'])
    const all: Uint8Array[] = []
    for await (const piece of response.body!) {
      all.push(piece)
      go()
    }
    expect(Buffer.concat(all).equals(content)).toBe(true)
    expect(await newest()).toMatchObject({ task: 'speech', outcome: 'complete' })
  })

  it('ends the connection where audio breaks', async () => {
    // Hono prints what a stream fails of.
    const print = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    onTestFinished(() => print.mockRestore())
    let go = (): void => undefined
    const waiting = new Promise<void>((resolve) => (go = resolve))
    setup().fault = audio(content.subarray(0, 1_000), waiting, new Error('Broken'))
    const response = await speak()
    expect(response.status).toBe(200)
    const reader = response.body!.getReader()
    expect((await reader.read()).value).toHaveLength(1_000)
    go()
    await expect(reader.read()).rejects.toThrow()
    await expect.poll(newest).toMatchObject({ task: 'speech', outcome: 'truncated' })
  })

  it('aborts the upstream when the client cancels audio', async () => {
    setup().fault = audio(content.subarray(0, 1_000), new Promise(() => undefined))
    const reader = (await speak()).body!.getReader()
    await reader.read()
    expect(setup().upstream.active).toBe(1)
    await reader.cancel()
    await expect.poll(() => setup().upstream.active).toBe(0)
    await expect.poll(newest).toMatchObject({ task: 'speech', outcome: 'client_abort' })
  })
}

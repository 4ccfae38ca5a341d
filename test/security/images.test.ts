import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FamiliesStack } from '../clients/families-stack.js'
import { startFamilies } from '../clients/families-stack.js'
import { runtime } from '../support/runtime.js'

// Where a name resolves to, redirects and what is fetched: test/images.

let fetching: FamiliesStack
let plain: FamiliesStack
/** Listens on all addresses of this machine, and counts who connects. */
let inside: Server
let port: number
let connections = 0
beforeAll(async () => {
  inside = createServer((socket) => {
    connections++
    socket.on('error', () => undefined).destroy()
  })
  await once(inside.listen(0, '::'), 'listening')
  port = (inside.address() as AddressInfo).port
  ;[fetching, plain] = await Promise.all([startFamilies({ FETCH_IMAGES: 'true' }), startFamilies()])
})
afterAll(async () => {
  await Promise.all([fetching.stop(), plain.stop()])
  inside.close()
})

const ask = async (at: FamiliesStack, model: string, part: object) => {
  const response = await fetch(`${at.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${at.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: [part] }] }),
  })
  return { status: response.status, text: await response.text() }
}
const image = (url: string) => ({ type: 'image_url', image_url: { url } })

/** Notations of addresses of this machine and its network, and names of them. */
const hosts = [
  '127.0.0.1',
  '2130706433',
  '0x7f.1',
  '0x7f000001',
  '0177.0.0.1',
  '127.1',
  '１２７.０.０.１',
  '127。0。0。1',
  '①②⑦.⓪.⓪.①',
  '[::1]',
  '[::]',
  '[::ffff:7f00:1]',
  '[::ffff:127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  'localhost',
  'localhost.',
  'LOCALHOST',
  'loc%61lhost',
  '0',
  '0.0.0.0',
  '10.0.0.1',
  '169.254.169.254',
  '192.168.0.1',
]

describe(`threat 1: SSRF through image_url, on ${runtime}`, () => {
  it.each(hosts)('reaches nothing at %s', async (host) => {
    const { status, text } = await ask(fetching, 'gemini-2.5-flash', image(`https://${host}:${port}/a.png`))
    // The same for all, whether or not somebody listens there.
    expect([status, JSON.parse(text)]).toEqual([
      400,
      {
        error: {
          type: 'invalid_request_error',
          code: 'invalid_body',
          message: 'An image could not be fetched from its URL',
        },
      },
    ])
    expect([connections, fetching.upstreams.google.requests]).toEqual([0, []])
  })

  it.each([
    `http://127.0.0.1`,
    `file:///etc/passwd`,
    `ftp://127.0.0.1`,
    'https://me:secret@127.0.0.1',
    'gopher://127.0.0.1',
  ])('takes no other URLs than of https without a credential: %s', async (origin) => {
    expect((await ask(fetching, 'gemini-2.5-flash', image(`${origin}:${port}/a.png`))).status).toBe(400)
    expect([connections, fetching.upstreams.google.requests]).toEqual([0, []])
  })

  it('fetches nothing unless it is asked to in the configuration, and no media but images', async () => {
    const url = `https://127.0.0.1:${port}/a.png`
    expect((await ask(plain, 'gemini-2.5-flash', image(url))).status).toBe(400)
    // These upstreams fetch it themselves.
    for (const model of ['gpt-4o-mini', 'claude-sonnet-4-5'])
      expect((await ask(plain, model, image(url))).status).toBe(200)
    for (const model of ['gemini-2.5-flash', 'gpt-4o-mini', 'claude-sonnet-4-5'])
      for (const at of [plain, fetching])
        for (const part of [
          { type: 'video_url', video_url: { url } },
          { type: 'audio_url', audio_url: { url } },
          { type: 'document_url', document_url: { url } },
          { type: 'file', file: { file_url: url, file_data: url } },
        ])
          await ask(at, model, part)
    expect(connections).toBe(0)
  })
})

import { createRouter, google, googleEndpoints } from '@turnpike/providers'
import type { FakeAnswer } from '@turnpike/providers/testing'
import { fakeGoogle } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { answer, testGateway } from '../support/gateway.js'

describe('answers that the model itself ended', () => {
  const ended = (finishReason: string, parts: object[]): FakeAnswer =>
    answer({ candidates: [{ content: { role: 'model', parts }, finishReason }] })
  const recording = (): FormData => {
    const form = new FormData()
    form.set('model', 'gemini-2.5-flash')
    form.set('file', new File(['audio'], 'talk.mp3'))
    return form
  }

  it.each<[what: string, fault: FakeAnswer, path: string, request: () => object]>([
    ['a text', ended('STOP', [{ text: 'I cannot draw' }]), 'images/generations', () => ({ prompt: 'A cat' })],
    ['no picture', ended('NO_IMAGE', []), 'images/generations', () => ({ prompt: 'A cat' })],
    ['a cut text', ended('MAX_TOKENS', [{ text: 'Half of ' }]), 'audio/transcriptions', recording],
  ])('with %s do not affect the health of the provider', async (_, fault, path, request) => {
    const { transport } = fakeGoogle({ override: () => fault })
    const router = createRouter({
      providers: [google({ apiKey: 'x', transport, endpoints: googleEndpoints({ audio: true }) })],
      failures: 1,
    })
    const { send } = await testGateway({ router, transcriptionModels: ['gemini-2.5-flash'] })
    const response = await send('POST', `/v1/${path}`, request())
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([502, 'false'])
    expect(router.health()).toMatchObject([{ status: 'healthy', failures: 0 }])
  })
})

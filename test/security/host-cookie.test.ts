import { describe, expect, it, onTestFinished } from 'vitest'
import { serve, setUp } from '../embed/setup.js'

/** A form with a recording, which a page of any site can make a browser send without asking. */
const recording = (): FormData => {
  const form = new FormData()
  form.append('model', 'whisper-1')
  form.append('file', new Blob(['RIFF']), 'a.wav')
  return form
}

describe('threat 18: CSRF with the cookie of a host', () => {
  /** The status of a transcription by a page, and how many requests the upstream has had. */
  async function ask(via: 'bearer' | undefined, headers: Record<string, string>): Promise<[number, number]> {
    const { gateway, userId, upstream } = await setUp()
    const { node } = gateway.as({
      authenticate: (head) => (head.header('cookie') === 'sid=1' ? { userId, ...(via && { via }) } : null),
    })
    const { url, close } = await serve((request, response) => void node(request, response))
    onTestFinished(close)
    const { status } = await fetch(`${url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { cookie: 'sid=1', ...headers },
      body: recording(),
    })
    return [status, upstream.requests.length]
  }
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }

  it.each([foreign, { origin: 'null' }, { 'sec-fetch-site': 'same-site' }])('is refused: %o', async (headers) => {
    expect(await ask(undefined, headers)).toEqual([403, 0])
  })

  it('does not concern the own pages, or what no browser sends', async () => {
    expect(await ask(undefined, { 'sec-fetch-site': 'same-origin' })).toEqual([200, 1])
    expect(await ask('bearer', foreign)).toEqual([200, 1])
  })
})

import { describe, expect, it } from 'vitest'
import { recording } from '../../../../test/support/families.js'
import { answer, withKey } from '../../../../test/support/gateway.js'

const audio = { status: 200, headers: { 'content-type': 'audio/mpeg' }, body: 'audio' }

describe('threat 112: an end user beyond the own limits, by speech and recordings', () => {
  it.each([
    ['/v1/audio/speech', audio, (user?: unknown) => ({ model: 'tts-1', input: 'Hi', ...(user != null && { user }) })],
    [
      '/v1/audio/transcriptions',
      answer({ text: 'Hello', duration: 3 }),
      (user?: unknown) => recording(user == null ? {} : { user: user as string }),
    ],
  ] as const)('%s is of the `user` of its body', async (path, answered, body) => {
    const at = await withKey({ endUsers: { required: true, rate_limit: 1 } }, { upstream: () => answered })
    const ask = async (user?: unknown) => {
      const response = await at.send('POST', path, body(user), at.init)
      await response.arrayBuffer()
      return response.status
    }
    expect([await ask('ada'), await ask('ada'), await ask('bob'), await ask(), await ask('x'.repeat(129))]).toEqual([
      200, 429, 200, 400, 400,
    ])
    expect((await at.records()).map(({ end_user }) => end_user?.id)).toEqual(['bob', 'ada'])
    // The upstream is not told.
    for (const { bytes } of at.upstream.requests) expect(new TextDecoder().decode(bytes)).not.toContain('ada')
    expect(await at.problems()).toEqual([])
  })
})

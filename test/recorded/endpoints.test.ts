import { readFileSync } from 'node:fs'
import { openai } from '@turnpike/providers'
import { describe, expect, it } from 'vitest'
import { fixtures, needs, recordedTraffic } from '../support/needs.js'
import { fileOf, scriptedUpstream } from '../support/upstream.js'

/** OpenAI as it answered once. */
function recorded(name: string) {
  const body = readFileSync(new URL(`openai/${name}`, fixtures), 'utf8')
  const { transport, call } = scriptedUpstream({ body })
  return { provider: openai({ apiKey: 'x', transport }), call }
}

describe('recorded answers of OpenAI', needs(recordedTraffic), () => {
  it('contain embeddings', async () => {
    const { provider, call } = recorded('openai-embedding.json')
    const request = { model: 'text-embedding-3-small', input: ['one', 'two'] }
    const first = [0.0057293195, -0.012727811, 0.020042092, -0.013437585, 0.022833068]
    const second = [-0.037104916, -0.05178114, -0.008340587, 0.001164541, -0.0035253682]
    expect(await provider.embeddings!(request, call)).toEqual({
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: first },
        { object: 'embedding', index: 1, embedding: second },
      ],
      model: 'text-embedding-3-small',
      usage: { prompt_tokens: 12, completion_tokens: 0, total_tokens: 12 },
    })
  })

  it('contain images, some with revised prompts', async () => {
    const { provider, call } = recorded('openai-image.json')
    const { images, usage } = await provider.images!({ model: 'dall-e-3', prompt: 'A baby sea otter' }, call)
    expect(images).toEqual([
      {
        base64: expect.stringMatching(/^iVBORw0KGgo/) as unknown,
        revised_prompt: expect.stringMatching(/^A small and adorable baby sea otter\./) as unknown,
      },
      { base64: expect.stringMatching(/^iVBORw0KGgo/) as unknown, revised_prompt: undefined },
    ])
    expect(usage).toBeUndefined()
  })

  it('contain texts and their durations', async () => {
    const { provider, call } = recorded('openai-transcription.json')
    expect(await provider.transcription!({ model: 'whisper-1', file: fileOf('audio') }, call)).toEqual({
      text: expect.stringMatching(/^Galileo was an American .* other solar system bodies\.$/) as unknown,
      seconds: 36.709999084472656,
      usage: undefined,
    })
  })
})

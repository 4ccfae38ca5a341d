import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runtime } from '../support/runtime.js'
import type { FamiliesStack } from './families-stack.js'
import { models, startFamilies } from './families-stack.js'
import { kinds } from './kinds.js'

/** A pixel as PNG. */
const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image = `data:image/png;base64,${data}`
const text = 'What is this?'

/** How each vendor is sent the question. */
const sent = {
  openai: {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text },
          { type: 'image_url', image_url: { url: image } },
        ],
      },
    ],
  },
  anthropic: {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
        ],
      },
    ],
  },
  google: {
    contents: [{ role: 'user', parts: [{ text }, { inlineData: { mimeType: 'image/png', data } }] }],
  },
}

let stack: FamiliesStack
beforeAll(async () => {
  stack = await startFamilies()
})
afterAll(() => stack.stop())

describe.each(kinds)(`$name against ${runtime}`, ({ connect }) => {
  describe.each(models)('shows $model', ({ model, vendor }) => {
    it.each([false, true])('an image, streamed: %s', async (stream) => {
      const { requests } = stack.upstreams[vendor]
      const before = requests.length
      const { url, key } = stack
      const answer = await connect({ url, key }).ask({ model, text, image }, { stream })
      expect(answer.text).toMatch(/^This is a simulated answer. You said: What is this\?/)
      const [body, ...more] = requests.slice(before).map(({ body }) => body)
      expect(more).toEqual([])
      expect(body).toMatchObject(sent[vendor])
    })
  })
})

import { fakeAnthropic, fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CompressingProxy } from '../support/compressing-proxy.js'
import { compressingProxy, compressions } from '../support/compressing-proxy.js'
import { runtime } from '../support/runtime.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

let proxies: CompressingProxy[]
let server: Server
let client: OpenAI

beforeAll(async () => {
  proxies = await Promise.all([fakeOpenAI(), fakeAnthropic(), fakeGoogle()].map(compressingProxy))
  const [openai, anthropic, google] = proxies.map(({ url }) => url)
  server = await startServer({
    OPENAI_BASE_URL: `${openai}/v1`,
    ANTHROPIC_BASE_URL: anthropic!,
    GEMINI_BASE_URL: `${google}/v1beta`,
    OPENAI_API_KEY: 'sk-upstream',
    ANTHROPIC_API_KEY: 'sk-ant-upstream',
    GEMINI_API_KEY: 'AIza-upstream',
  })
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.key, maxRetries: 0 })
})
afterAll(async () => {
  await server.stop()
  await Promise.all(proxies.map((proxy) => proxy.close()))
})

describe.each(['gpt-4o', 'claude-sonnet-4-5', 'gemini-2.5-flash'])(
  `the openai client against ${runtime}: %s`,
  (model) => {
    const said = 'This is a simulated answer. You said: Hi'
    const messages = [{ role: 'user' as const, content: 'Hi' }]

    it.each(['gzip', 'deflate', 'deflate without a header', 'br'])(
      'behind a proxy that answers in %s',
      async (what) => {
        for (const proxy of proxies) proxy.compression = compressions[what]!
        const whole = await client.chat.completions.create({ model, messages })
        expect(whole.choices[0]!.message.content).toBe(said)
        const pieces: string[] = []
        for await (const chunk of await client.chat.completions.create({ model, messages, stream: true }))
          pieces.push(chunk.choices[0]?.delta.content ?? '')
        expect(pieces.join('')).toBe(said)
        for (const { asked } of proxies) expect(asked.every((encoding) => encoding === 'identity')).toBe(true)
      },
    )

    it('behind a proxy that answers in an encoding that is not known', async () => {
      for (const proxy of proxies) proxy.compression = { encoding: 'zstd', steps: [] }
      await expect(client.chat.completions.create({ model, messages })).rejects.toMatchObject({
        status: 502,
        message: '502 The upstream provider used an unknown content encoding: zstd',
      })
    })
  },
)

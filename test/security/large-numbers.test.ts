import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FamiliesStack } from '../clients/families-stack.js'
import { startFamilies } from '../clients/families-stack.js'
import { paths, replied, requestOf } from '../endpoints/endpoints.js'
import { runtime } from '../support/runtime.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

let folder: string
let stack: FamiliesStack
let env: Record<string, string>
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turnpike-numbers-'))
  env = { STORAGE: `fs:${folder}`, FILES: 'memory', HOLDS: 'true' }
  stack = await startFamilies(env)
})
afterEach(async () => {
  await stack.stop()
  await rm(folder, { recursive: true })
})

const send = (path: string, body: object, { url, key }: Pick<Server, 'url' | 'key'> = stack.server) =>
  fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      ...(!(body instanceof FormData) && { 'content-type': 'application/json' }),
    },
    body: body instanceof FormData ? body : JSON.stringify(body),
  })
type Recorded = { completion_tokens: number; cost_usd: number }
const records = async ({ url, key }: Pick<Server, 'url' | 'key'> = stack.server): Promise<Recorded[]> => {
  const path = '/v1/users/00000000-0000-7000-8000-000000000001/usage'
  const answered = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
  return ((await answered.json()) as { records: Recorded[] }).records
}
const asked = () => stack.upstreams.openai.requests.length

describe(`threat 54: numbers that no sum can take, on ${runtime}`, () => {
  it('are refused before an upstream is called', async () => {
    const fields = ['max_tokens', 'max_completion_tokens', 'n', 'seed', 'top_logprobs', 'temperature', 'top_p']
    const bodies = [
      ...fields.map((field): ['chat', object] => ['chat', { [field]: 1e300 }]),
      ...['max_tokens', 'max_completion_tokens'].map((field): ['chat', object] => ['chat', { [field]: 10_000_001 }]),
      ['embeddings', { dimensions: 1e300 }] as const,
      ['images', { n: 1e300 }] as const,
      ['speech', { speed: 1e300 }] as const,
    ]
    for (const [endpoint, fields] of bodies) {
      const response = await send(paths[endpoint], requestOf(endpoint, fields))
      const { error } = (await response.json()) as { error: { code: string } }
      expect([response.status, error.code], JSON.stringify(fields)).toEqual([400, 'invalid_body'])
    }
    expect(asked()).toBe(0)
  })

  it.each([{}, { input_tokens: 5, output_tokens: 5 }, { input_tokens: 9e15, output_tokens: 9e15 }])(
    'are not believed of an upstream, and stop nobody: a duration beside %j',
    async (usage) => {
      for (const duration of [90_071_992_547_409_000, 1e12, 1e19, 1e300]) {
        stack.fault = () => replied(200, { text: 'Hello', duration, usage })
        expect((await send(paths.transcription, requestOf('transcription'))).status).toBe(200)
      }
      const tokens = { prompt_tokens: 1e8, completion_tokens: 1e8 }
      stack.fault = () => replied(200, { choices: [{ index: 0, message: { content: 'a' } }], usage: tokens })
      expect((await send(paths.chat, requestOf('chat'))).status).toBe(200)
      expect(await records()).toMatchObject([
        { cost_usd: 1250 },
        ...[1, 2, 3, 4].map(() => ({ units: { seconds: 1 }, cost_usd: 0.0001 })),
      ])
    },
  )

  it('do not keep a sweep from the requests of others', async () => {
    stack.fault = () => ({
      ...replied(200, {}),
      body: (async function* () {
        await new Promise(() => undefined)
        yield ''
      })(),
    })
    const running: Promise<unknown>[] = []
    for (const fields of [{ n: 128, max_tokens: 10_000_000 }, { max_tokens: 50 }]) {
      const before = asked()
      running.push(send(paths.chat, requestOf('chat', fields)).catch(() => undefined))
      await expect.poll(asked).toBe(before + 1)
    }
    stack.server.process.kill('SIGKILL')
    await Promise.all(running)

    const next = await startServer(env)
    try {
      expect((await records(next)).map(({ completion_tokens }) => completion_tokens)).toEqual([50, 1e9])
      expect(next.output()).not.toContain('RangeError')
    } finally {
      await next.stop()
    }
  })
})

import type { Model, Provider, Router } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { createRouter } from './router.js'

const model = (provider: string, id: string): Model => ({
  id,
  object: 'model',
  created: 1,
  owned_by: 'x',
  provider,
  capabilities: ['chat'],
})

function provider(id: string, models: string[], family?: RegExp, chat = true): Provider {
  const refuse = () => Promise.reject(new Error('not called'))
  return {
    id,
    models: async () => models.map((name) => model(id, name)),
    ...(family && { owns: (name: string) => family.test(name) }),
    ...(chat && { chat: { oneChoice: false, preview: () => [], complete: refuse, stream: refuse } }),
  }
}

const router = createRouter({
  providers: [
    provider('openai', ['gpt-4o', 'shared'], /^gpt-/),
    provider('google', ['gemini-2.5-pro', 'shared'], /^gemini-/),
    provider('local', ['meta/llama', 'shared', 'gpt-4o-local']),
    provider('speaker', ['tts-1'], /^tts-/, false),
  ],
})

const targets = async (from: Router, wanted: string, named?: string | null): Promise<string[]> =>
  (
    await from.candidates({ task: 'chat', request: { model: wanted, provider: named }, expected: () => ({ input: 1 }) })
  ).targets.map((target) => `${target.provider.id}: ${target.model}`)

describe('the router', () => {
  it.each<[model: string, provider: string | null | undefined, found: string[]]>([
    ['gpt-4o', undefined, ['openai: gpt-4o']],
    ['gpt-4o', null, ['openai: gpt-4o']],
    ['gpt-4o', '', ['openai: gpt-4o']],
    ['gpt-4o', 'auto', ['openai: gpt-4o']],
    ['shared', 'auto', ['openai: shared', 'google: shared', 'local: shared']],
    ['openai/gpt-4o', undefined, ['openai: gpt-4o']],
    ['openai/gpt-4o', 'auto', ['openai: gpt-4o']],
    ['google/shared', undefined, ['google: shared']],
    ['gemini/gemini-2.5-pro', undefined, ['google: gemini-2.5-pro']],
    ['openai/anything', undefined, ['openai: anything']],
    ['openai/a/b', undefined, ['openai: a/b']],
    ['meta/llama', undefined, ['local: meta/llama']],
    ['local/meta/llama', undefined, ['local: meta/llama']],
    ['gpt-99', undefined, ['openai: gpt-99']],
    ['gemini-99', 'auto', ['google: gemini-99']],
    ['gpt-4o-local', undefined, ['local: gpt-4o-local']],
    ['shared', 'google', ['google: shared']],
    ['shared', 'gemini', ['google: shared']],
    ['unlisted', 'local', ['local: unlisted']],
    ['openai/shared', 'local', ['local: shared']],
  ])('finds %s of provider %s', async (wanted, named, found) =>
    expect(await targets(router, wanted, named)).toEqual(found),
  )

  it.each([
    ['unknown', undefined],
    ['unknown', 'auto'],
    ['', undefined],
    ['openai/', undefined],
    ['/gpt-4o', undefined],
    ['anthropic/claude', undefined],
    ['tts-1', undefined],
    ['speaker/tts-1', undefined],
    ['x', 'speaker'],
    ['', 'openai'],
    ['__proto__', undefined],
  ])('has no model %j of provider %s', async (wanted, named) => {
    await expect(targets(router, wanted, named)).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      code: 'model_not_found',
      message: `No configured provider has the model "${wanted}"`,
    })
  })

  it('repeats no more than 100 characters of a model id', async () => {
    await expect(targets(router, 'x'.repeat(5_000))).rejects.toThrow(`"${'x'.repeat(100)}"`)
  })

  it('names the providers to one who asks for an unknown one', async () => {
    for (const named of ['anthropic', 'OpenAI', 'constructor'])
      await expect(targets(router, 'gpt-4o', named)).rejects.toMatchObject({
        status: 400,
        code: 'invalid_body',
        message: 'Unknown provider; the configured ones are "openai", "google", "local", "speaker", "auto"',
      })
  })

  it('prefers providers in the order that they are given', async () => {
    const [a, b] = [provider('a', ['m'], /^f-/), provider('b', ['m'], /^f-/)]
    expect(await targets(createRouter({ providers: [b, a] }), 'm')).toEqual(['b: m', 'a: m'])
    expect(await targets(createRouter({ providers: [b, a] }), 'f-1')).toEqual(['b: f-1', 'a: f-1'])
  })

  it('lists the models of all providers or of one', async () => {
    const ids = async (filter?: { provider?: string }) => (await router.models(filter)).map(({ id }) => id)
    expect(await ids()).toHaveLength(8)
    expect(await ids({})).toHaveLength(8)
    expect(await ids({ provider: 'openai' })).toEqual(['gpt-4o', 'shared'])
    expect(await ids({ provider: 'gemini' })).toEqual(['gemini-2.5-pro', 'shared'])
    expect(await ids({ provider: 'unknown' })).toEqual([])
    expect(await ids({ provider: '' })).toEqual([])
  })
})

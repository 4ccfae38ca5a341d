import type { Model, Provider, Target } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import { expect, it } from 'vitest'
import { createRouter } from './router.js'

const failed = new UpstreamError('failed', { provider: 'a', kind: 'unavailable', accepted: false })
const limited = new UpstreamError('slow', {
  provider: 'b',
  kind: 'status',
  status: 429,
  accepted: false,
  retryAfter: 9,
})
const refuse = () => Promise.reject(new Error('not called'))

/** A provider that counts how often it is asked for its models. */
function upstream(id: string) {
  const state = { asked: 0 }
  const model: Model = { id: 'm', object: 'model', created: 1, owned_by: 'x', provider: id, capabilities: ['chat'] }
  const provider: Provider = {
    id,
    models: async () => (state.asked++, [model]),
    chat: { oneChoice: false, preview: () => [], complete: refuse, stream: refuse },
  }
  return { provider, state }
}
const need = { task: 'chat' as const, request: { model: 'm' }, expected: () => ({}) }

it('a router that replaces another goes on with the health, lists and choices of the providers that both have', async () => {
  const [a, b, c] = ['a', 'b', 'c'].map(upstream) as [
    ReturnType<typeof upstream>,
    ReturnType<typeof upstream>,
    ReturnType<typeof upstream>,
  ]
  const before = createRouter({ providers: [a.provider, b.provider], failures: 1 })
  const { targets } = await before.candidates(need)
  before.report(targets[0]!, failed)
  before.report(targets[1]!, limited)

  const after = createRouter({ providers: [c.provider, a.provider, b.provider], failures: 1, replaces: before })
  expect(after.state().providers.map(({ id, breaker, limited }) => [id, breaker, limited.length])).toEqual([
    ['c', 'closed', 0],
    ['a', 'open', 0],
    ['b', 'closed', 1],
  ])
  expect(after.state().choices).toEqual(before.state().choices)
  expect((await after.models()).map(({ provider }) => provider)).toEqual(['c', 'a', 'b'])
  expect([a, b, c].map(({ state }) => state.asked)).toEqual([1, 1, 1])

  // A request that the old one serves still counts, for both.
  before.report(targets[0]!)
  expect(after.health().map(({ id, status }) => [id, status])).toContainEqual(['a', 'healthy'])
})

it('its choices are synchronous at once where it has no provider more', async () => {
  const { provider } = upstream('a')
  const before = createRouter({ providers: [provider] })
  await before.models()
  const choice = createRouter({ providers: [provider], replaces: before }).candidates(need) as { targets: Target[] }
  expect(choice.targets).toHaveLength(1)
})

it('without it, nothing goes over', async () => {
  const { provider } = upstream('a')
  const before = createRouter({ providers: [provider], failures: 1 })
  const { targets } = await before.candidates(need)
  before.report(targets[0]!, failed)
  expect(createRouter({ providers: [provider] }).state().providers[0]!.breaker).toBe('closed')
})

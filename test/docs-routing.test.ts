import type { Provider, UpstreamFailure } from '@turnpike/core'
import { ApiError, UpstreamError } from '@turnpike/core'
import { createRouter } from '@turnpike/providers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openPage, runExample } from './support/page.js'

const { text: page, blocks } = openPage('routing.md')
const table = /<!-- table: .*-->([^]*)<!-- end -->/.exec(page)![1]!
const failures = [
  ...table.matchAll(/^\| ([^|]+?) +\| (?:`(\{.*?\})`|–) +\| (yes|no) +\| (yes|no) +\| (\w+) +\|$/gm),
].map(([, what, failure, next, again, breaker]) => ({ what: what!, failure, next, again, breaker }))

const gone = new ApiError(499, 'server_error', 'The client went away', { code: 'internal_error' })

/** The error of a row. */
const errorOf = (failure: string | undefined): unknown =>
  failure === undefined ? gone : new UpstreamError('', { ...(JSON.parse(failure) as UpstreamFailure), provider: 'a' })

/** A router with providers that all have the model. */
function routerOf(...ids: string[]) {
  const providers = ids.map((id): Provider => {
    const refuse = () => Promise.reject(new Error('not called'))
    return {
      id,
      models: async () => [],
      owns: () => true,
      chat: { oneChoice: false, preview: () => [], complete: refuse, stream: refuse },
    }
  })
  return createRouter({ providers, retries: 1, maxWaitMs: 0 })
}

/** Who is asked where all fail alike. */
async function askedOf(ids: string[], error: unknown): Promise<string[]> {
  const router = routerOf(...ids)
  const { targets } = await router.candidates({ task: 'chat', request: { model: 'm' }, expected: () => ({}) })
  const asked: string[] = []
  const run = ({ provider }: { provider: Provider }): Promise<never> => {
    asked.push(provider.id)
    return Promise.reject(error)
  }
  await expect(router.attempt(targets, new AbortController().signal, run)).rejects.toBe(error)
  return asked
}

afterEach(() => vi.restoreAllMocks())

describe('docs/routing.md', () => {
  it('has examples and rows that were all found', () => {
    expect(blocks).toHaveLength(7)
    expect(failures).toHaveLength(table.trim().split('\n').length - 2)
  })

  it.each(blocks.map((code, i) => [i, code] as const))('has examples with the documented output: %i', (_, code) =>
    runExample(code),
  )

  it.each(failures)('has the correct failover after: $what, $failure', async ({ failure, next, again }) => {
    const asked = [...(next === 'yes' ? ['a', 'b'] : ['a']), ...(again === 'yes' ? ['a', 'b'] : [])]
    expect(await askedOf(['a', 'b'], errorOf(failure))).toEqual(asked)
  })

  it.each(failures)('has the correct breaker state after: $what, $failure', async ({ failure, breaker }) => {
    const router = routerOf('a')
    const { targets } = await router.candidates({ task: 'chat', request: { model: 'm' }, expected: () => ({}) })
    const report = (error: unknown): number => {
      router.report(targets[0]!, error)
      return router.health()[0]!.failures
    }
    expect(report(new UpstreamError('', { provider: 'a', kind: 'timeout', accepted: true }))).toBe(1)
    expect(report(errorOf(failure))).toBe({ counts: 2, stays: 1, resets: 0 }[breaker!])
  })
})

import type { Provider, Target, UpstreamFailure } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import { Health } from '../../packages/providers/src/router/health.js'

export const provider: Provider = { id: 'p', models: async () => [] }
export const target = (model = 'm', of = provider): Target => ({ provider: of, model, price: undefined, catalogue: '' })
export const failure = (fields: Partial<UpstreamFailure> = {}): UpstreamError =>
  new UpstreamError('failed', { provider: 'p', kind: 'status', status: 500, accepted: false, ...fields })

/** The health of providers that rest for ten seconds after three failures, and its clock. */
export function testHealth() {
  const clock = { now: Date.UTC(2026, 0, 2) }
  const health = new Health({ failures: 3, restMs: 10_000, now: () => clock.now })
  /** Reports one request that ends with `error`, or without one. */
  const call = (error?: unknown): void => {
    const one = target()
    health.begin(one)
    health.report(one, error)
  }
  const open = (): void => {
    for (let i = 0; i < 3; i++) call(failure())
  }
  return { clock, health, call, open }
}

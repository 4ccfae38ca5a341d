import type { Probe, Provider } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import { unsupported } from '@turnpike/core/internal'
import type { Health } from './health.js'

/** Milliseconds until a provider that does not answer has failed. */
const TIMEOUT_MS = 10_000

async function check(provider: Provider, health: Health): Promise<Omit<Probe, 'duration_ms'>> {
  if (!provider.check) throw unsupported(`The provider "${provider.id}" cannot be asked for its models`)
  const controller = new AbortController()
  const silent = { provider: provider.id, kind: 'timeout', accepted: false } as const
  const timer = setTimeout(
    () => controller.abort(new UpstreamError('The upstream did not answer in time', silent)),
    TIMEOUT_MS,
  )
  try {
    await provider.check({ signal: controller.signal })
    health.checked(provider)
    return { status: 200 }
  } catch (error) {
    if (!UpstreamError.is(error)) throw error
    const { status = null } = error.failure
    // It was reached, and has no list of models, as some servers of a single model.
    const isWell = status === 404 || status === 405
    health.checked(provider, isWell ? undefined : error)
    return isWell ? { status } : { status, error }
  } finally {
    clearTimeout(timer)
  }
}

/** Checks all instances of a provider. @throws ApiError 400 if one cannot be checked */
export async function probe(instances: Provider[], health: Health): Promise<Probe> {
  const started = performance.now()
  const results = await Promise.all(instances.map((provider) => check(provider, health)))
  return {
    duration_ms: Math.round(performance.now() - started),
    ...(results.find(({ error }) => error) ?? results[0]!),
  }
}

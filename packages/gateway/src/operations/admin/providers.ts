import type { ProviderState, Router } from '@turnpike/core'
import * as v from 'valibot'
import { notFound } from '../../errors.js'
import { operation } from '../../operation.js'
import { kindOf } from '../../outcome.js'

/** The state of the circuit breaker of a provider. */
export const health = {
  id: v.string(),
  /** `open` = other providers are tried before it; `half-open` = one trial request is allowed, or is running. */
  breaker: v.picklist(['closed', 'open', 'half-open']),
  /** Failures since the last success. */
  failures: v.number(),
  /** Kind of the last failure. */
  last_failure: v.nullable(v.string()),
  /** When the next trial request is allowed. */
  next_try: v.nullable(v.string()),
}

type Health = Pick<ProviderState, keyof typeof health>

export const healthOf = ({ id, breaker, failures, last_failure, next_try }: Health): Health => ({
  id,
  breaker,
  failures,
  last_failure,
  next_try,
})

/** spec.md, "Response payloads of the … admin … endpoints: not shown". It never contains keys or URLs. */
export const ConfiguredProviders = v.object({
  /** In the order of their configuration; a provider with several keys or URLs has an entry for each. */
  providers: v.array(
    v.object({
      ...health,
      status: v.picklist(['healthy', 'unhealthy']),
      /** The tasks that it supports. */
      tasks: v.array(v.picklist(['chat', 'embeddings', 'images', 'speech', 'transcription'])),
      /** Number of its models in the catalogue. */
      models: v.number(),
      /** What it leaves out of requests to a model, because its upstream has refused it: a field, or one with a value (`reasoning_effort=minimal`); absent = nothing. */
      learnt: v.optional(v.array(v.object({ model: v.string(), field: v.string(), until: v.string() }))),
    }),
  ),
})
export type ConfiguredProviders = v.InferOutput<typeof ConfiguredProviders>

/** GET /admin/providers */
export const adminProviders = (router: Router) =>
  operation({
    id: 'admin.providers',
    summary: 'Lists the configured providers.',
    access: 'admin',
    output: ConfiguredProviders,
    async run(): Promise<ConfiguredProviders> {
      const counts = new Map<string, number>()
      for (const { provider } of await router.models()) counts.set(provider, (counts.get(provider) ?? 0) + 1)
      return {
        providers: router.state().providers.map(({ status, tasks, learnt, ...state }) => ({
          ...healthOf(state),
          status,
          tasks,
          models: counts.get(state.id) ?? 0,
          ...(learnt && { learnt }),
        })),
      }
    },
  })

/** What came of asking a provider for its list of models. */
export const ProviderProbe = v.object({
  id: v.string(),
  /** Whether all its instances could be reached and took their credentials. */
  ok: v.boolean(),
  duration_ms: v.number(),
  /** The kind of the failure, as in `/admin/metrics`; null if there is none. */
  failure: v.nullable(v.string()),
  /** The status of the answer; null if there was none, or an invalid one. */
  status: v.nullable(v.number()),
})
export type ProviderProbe = v.InferOutput<typeof ProviderProbe>

/** POST /admin/providers/{id}/probe */
export const adminProvidersProbe = (router: Router) =>
  operation({
    id: 'admin.providers.probe',
    summary: 'Asks a provider for its list of models, which tells whether it can be reached.',
    access: 'admin',
    params: v.object({ id: v.string() }),
    errors: [400, 404],
    output: ProviderProbe,
    async run(_, { params: { id } }): Promise<ProviderProbe> {
      const probe = await router.probe(id)
      if (!probe) throw notFound('provider')
      const { duration_ms, status, error } = probe
      return { id, ok: !error, duration_ms, failure: kindOf(error) ?? null, status }
    },
  })

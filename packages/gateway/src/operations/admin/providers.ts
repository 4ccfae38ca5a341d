import type { Probe, ProviderState, Router } from '@turnpike/core'
import * as v from 'valibot'
import { notFound } from '../../errors.js'
import { operation } from '../../operation.js'
import { kindOf } from '../../records/outcome.js'

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

/** What only the host knows of a provider. */
const configuration = {
  /** Where it is configured: the file, variables of the environment, the code of a program, or the store (`POST /admin/providers`). */
  source: v.optional(v.picklist(['file', 'environment', 'program', 'store'])),
  /** The kind of its API; absent where it was made by code. */
  type: v.optional(v.string()),
  /** Its part of the calls among the providers with its id; absent = 1. */
  weight: v.optional(v.number()),
  /** The most calls and tokens in a minute; absent = any number. */
  requests_per_minute: v.optional(v.number()),
  tokens_per_minute: v.optional(v.number()),
  /** Of one in the store: its id in the paths that change it. */
  entry: v.optional(v.string()),
  /** Of one in the store: its settings as a file has them, without secrets. */
  settings: v.optional(v.record(v.string(), v.unknown())),
  /** Of one in the store: whether it has a key or other secrets. */
  has_key: v.optional(v.boolean()),
  /** The last four characters of a key of at least 24. */
  key_end: v.optional(v.string()),
  /** Why it cannot be used, where it is `broken`. */
  fault: v.optional(v.string()),
}

/** A provider as its host has configured it. */
export interface ConfiguredProvider extends v.InferOutput<v.ObjectSchema<typeof configuration, undefined>> {
  id: string
  /** Why the router does not have it; absent = it does. */
  out?: 'disabled' | 'broken'
}

/** The answer of GET /admin/providers. It never contains keys; addresses only of providers in the store. */
export const ConfiguredProviders = v.object({
  /** In the order of their configuration; a provider with several keys or URLs has an entry for each. */
  providers: v.array(
    v.object({
      ...health,
      /** `disabled` and `broken` ones get no calls. */
      status: v.picklist(['healthy', 'unhealthy', 'disabled', 'broken']),
      /** The tasks that it supports. */
      tasks: v.array(v.picklist(['chat', 'embeddings', 'images', 'speech', 'transcription'])),
      /** Number of its models in the catalogue. */
      models: v.number(),
      /** What it leaves out of requests to a model, because its upstream has refused it: a field, or one with a value (`reasoning_effort=minimal`); absent = nothing. */
      learnt: v.optional(v.array(v.object({ model: v.string(), field: v.string(), until: v.string() }))),
      ...configuration,
    }),
  ),
})
export type ConfiguredProviders = v.InferOutput<typeof ConfiguredProviders>

/** The health of a provider that gets no calls. */
const unused = { breaker: 'closed', failures: 0, last_failure: null, next_try: null, models: 0 } as const

/** GET /admin/providers. @param configured in their order, those of the router among them; default they are all */
export const adminProviders = (router: Router, configured?: () => ConfiguredProvider[]) =>
  operation({
    id: 'admin.providers',
    summary: 'Lists the configured providers.',
    access: 'admin',
    output: ConfiguredProviders,
    async run(): Promise<ConfiguredProviders> {
      const counts = new Map<string, number>()
      for (const { provider } of await router.models()) counts.set(provider, (counts.get(provider) ?? 0) + 1)
      const states = router.state().providers
      const used = states.values()
      return {
        providers: (configured?.() ?? states.map(({ id }): ConfiguredProvider => ({ id }))).map(({ out, ...given }) => {
          if (out) return { ...unused, tasks: [], status: out, ...given }
          const { status, tasks, learnt, ...state } = used.next().value!
          const models = counts.get(state.id) ?? 0
          return { ...healthOf(state), status, tasks, models, ...(learnt && { learnt }), ...given }
        }),
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

/**
 * The result of a probe, as it is answered.
 * @param id of what was asked
 * @example const { ok } = probeView('openai', await probe())
 */
export const probeView = (id: string, { duration_ms, status, error }: Probe): ProviderProbe => ({
  id,
  ok: !error,
  duration_ms,
  failure: kindOf(error) ?? null,
  status,
})

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
      return probeView(id, probe)
    },
  })

import type { ProviderState, Router } from '@turnpike/core'
import { toUsd } from '@turnpike/core'
import * as v from 'valibot'
import { operation } from '../../operation.js'

const health = {
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

const healthOf = ({ id, breaker, failures, last_failure, next_try }: Health): Health => ({
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
        providers: router.state().providers.map(({ status, tasks, ...state }) => ({
          ...healthOf(state),
          status,
          tasks,
          models: counts.get(state.id) ?? 0,
        })),
      }
    },
  })

/** A candidate for a request. */
const Compared = v.object({
  provider: v.string(),
  model: v.string(),
  /** Estimated cost of the request; null if the price is not known, or did not decide. */
  expected_usd: v.nullable(v.number()),
  /** Why it could not serve the request; null if it could. */
  excluded: v.nullable(v.picklist(['unfit', 'context', 'output'])),
  /** Why it was placed after others; null if it was not. */
  behind: v.nullable(v.picklist(['unhealthy', 'limited'])),
})

/** spec.md, "Response payloads of the … admin … endpoints: not shown". */
export const BalancerResponse = v.object({
  providers: v.array(
    v.object({
      ...health,
      /** Its models that are rate limited now, and until when. */
      limited: v.array(v.object({ model: v.string(), until: v.string() })),
    }),
  ),
  /** Model groups: the models by the name of their group. */
  groups: v.record(v.string(), v.array(v.string())),
  /** The last 100 choices of this process among several candidates, newest first. */
  choices: v.array(
    v.object({
      time: v.string(),
      /** The request's `model` field. */
      model: v.string(),
      /** The request's `provider` field; null if it had none. */
      provider: v.nullable(v.string()),
      /** The criterion that decided. */
      by: v.picklist(['price', 'order']),
      /** The candidates in the order in which they are tried, then those that are excluded. */
      order: v.array(Compared),
      /** The target that accepted the request; null if none did, or not yet. */
      served: v.nullable(v.object({ provider: v.string(), model: v.string() })),
      /** Number of upstream calls. */
      attempts: v.number(),
    }),
  ),
})
export type BalancerResponse = v.InferOutput<typeof BalancerResponse>

/** GET /admin/balancer */
export const adminBalancer = (router: Router) =>
  operation({
    id: 'admin.balancer',
    summary: 'Tells how providers are chosen: their breakers, groups of models, and recent choices.',
    access: 'admin',
    output: BalancerResponse,
    run(): BalancerResponse {
      const { providers, groups, choices } = router.state()
      return {
        providers: providers.map(({ limited, ...state }) => ({ ...healthOf(state), limited })),
        groups,
        choices: choices.map((choice) => ({
          ...choice,
          order: choice.order.map(({ provider, model, expected_nano_usd: nano, excluded = null, behind = null }) => ({
            provider,
            model,
            expected_usd: nano === null ? null : toUsd(nano),
            excluded,
            behind,
          })),
        })),
      }
    },
  })

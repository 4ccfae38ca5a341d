import type { ProviderState, Router } from '@turnpike/core'
import { toUsd } from '@turnpike/core'
import * as v from 'valibot'
import { operation } from '../../operation.js'

const health = {
  id: v.string(),
  /** `open` = others are asked before it; `half-open` = one request may try it, or does. */
  breaker: v.picklist(['closed', 'open', 'half-open']),
  /** Failures since its last success. */
  failures: v.number(),
  /** Kind of the last of them. */
  last_failure: v.nullable(v.string()),
  /** When one request may try it again. */
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

/** spec.md, "Response payloads of the … admin … endpoints: not shown". Never keys or addresses. */
export const ConfiguredProviders = v.object({
  /** In the order of their configuration; one with several keys or addresses has an entry for each. */
  providers: v.array(
    v.object({
      ...health,
      status: v.picklist(['healthy', 'unhealthy']),
      /** What it can be asked to do. */
      tasks: v.array(v.picklist(['chat', 'embeddings', 'images', 'speech', 'transcription'])),
      /** How many models of it are listed. */
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

/** One that could serve a request. */
const Compared = v.object({
  provider: v.string(),
  model: v.string(),
  /** What the request was expected to cost; null where the price is not known, or did not decide. */
  expected_usd: v.nullable(v.number()),
  /** Why it could not serve the request; null where it could. */
  excluded: v.nullable(v.picklist(['unfit', 'context', 'output'])),
  /** Why it was put behind others; null where it was not. */
  behind: v.nullable(v.picklist(['unhealthy', 'limited'])),
})

/** spec.md, "Response payloads of the … admin … endpoints: not shown". */
export const BalancerResponse = v.object({
  providers: v.array(
    v.object({
      ...health,
      /** Its models that are rate limited at the moment, and until when. */
      limited: v.array(v.object({ model: v.string(), until: v.string() })),
    }),
  ),
  /** Names that stand for models. */
  groups: v.record(v.string(), v.array(v.string())),
  /** The last 100 choices of this process where there was something to choose, newest first. */
  choices: v.array(
    v.object({
      time: v.string(),
      /** As the request had it. */
      model: v.string(),
      /** The request's `provider` field; null where it had none. */
      provider: v.nullable(v.string()),
      /** What decided. */
      by: v.picklist(['price', 'order']),
      /** In the order in which they were to be asked, and after them those that are excluded. */
      order: v.array(Compared),
      /** Who accepted the request; null where nobody did, or not yet. */
      served: v.nullable(v.object({ provider: v.string(), model: v.string() })),
      /** Calls that it took. */
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

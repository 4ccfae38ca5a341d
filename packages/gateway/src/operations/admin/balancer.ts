import type { Considered, Router } from '@turnpike/core'
import { ChatCompletionRequest, toUsd } from '@turnpike/core'
import * as v from 'valibot'
import { operation } from '../../operation.js'
import { needOf } from '../../limits/chat-need.js'
import { normalise } from '../chat.js'
import { health, healthOf } from './providers.js'

/** A candidate for a request. */
const Compared = v.object({
  provider: v.string(),
  model: v.string(),
  /** Estimated cost of the request; null if the price is not known, or did not decide. */
  expected_usd: v.nullable(v.number()),
  /** Why it could not serve the request; null if it could. */
  excluded: v.nullable(v.picklist(['unfit', 'context', 'output', 'forbidden'])),
  /** Why it was placed after others; null if it was not. */
  behind: v.nullable(v.picklist(['unhealthy', 'limited'])),
})

const compared = ({
  provider,
  model,
  expected_nano_usd: nano,
  excluded,
  behind,
}: Considered): v.InferOutput<typeof Compared> => ({
  provider,
  model,
  expected_usd: nano === null ? null : toUsd(nano),
  excluded: excluded ?? null,
  behind: behind ?? null,
})

/** What was asked for, and how the candidates for it compare. */
const choice = {
  /** The request's `model` field. */
  model: v.string(),
  /** The request's `provider` field; null if it had none. */
  provider: v.nullable(v.string()),
  /** The criterion that decides. */
  by: v.picklist(['price', 'order']),
  /** The candidates in the order in which they are tried, then those that are excluded. */
  order: v.array(Compared),
}

/** The answer of GET /admin/balancer. */
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
      /** The X-Request-ID of the request; null where it had none. */
      request_id: v.nullable(v.string()),
      ...choice,
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
          order: choice.order.map(compared),
        })),
      }
    },
  })

/** The choice that a router would make. */
export const SimulatedChoice = v.object(choice)
export type SimulatedChoice = v.InferOutput<typeof SimulatedChoice>

/** POST /admin/balancer/simulate: calls no upstream, and changes no later choice. */
export const adminBalancerSimulate = (router: Router) =>
  operation({
    id: 'admin.balancer.simulate',
    summary: 'Tells which providers a chat completion would be sent to, without sending it.',
    access: 'admin',
    body: ChatCompletionRequest,
    example: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello!' }] },
    output: SimulatedChoice,
    async run(_, { body }): Promise<SimulatedChoice> {
      const { by, order } = await router.preview(needOf(normalise(body)))
      return { model: body.model, provider: body.provider || null, by, order: order.map(compared) }
    },
  })

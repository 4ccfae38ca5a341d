import type { Rates, Router } from '@turnpike/core'
import * as v from 'valibot'
import { operation } from '../../operation.js'

/** US dollars per million tokens; null where there is no separate rate: a cached token then costs as much as an uncached one. */
const rates = {
  input: v.nullable(v.number()),
  output: v.nullable(v.number()),
  cache_read: v.nullable(v.number()),
  cache_write: v.nullable(v.number()),
  /** Rates for other kinds of tokens and for `characters`, `seconds` and `images`: US dollars per million of each. */
  other: v.record(v.string(), v.number()),
}

/** The answer of GET /admin/pricing. */
export const PricingResponse = v.object({
  /** Version of the prices; usage records refer to it. */
  version: v.string(),
  /** Their source: `built-in`, the name of a file, or the URL of a public table. */
  source: v.string(),
  /** The date or time from which they are valid. */
  since: v.string(),
  /** The models of the configured providers, without aliases, which cost what their models do. */
  models: v.array(
    v.object({
      id: v.string(),
      provider: v.string(),
      /** False if the price is not known. */
      priced: v.boolean(),
      ...rates,
      /** Rates for requests whose prompt has more than `above` tokens. */
      tiers: v.array(v.object({ above: v.number(), ...rates })),
      /** The source of this price, `configuration` for one of the provider's own, and the date or time from which it is valid; null if not known. */
      source: v.nullable(v.string()),
      since: v.nullable(v.string()),
    }),
  ),
})
export type PricingResponse = v.InferOutput<typeof PricingResponse>

const view = ({ input, output, cache_read, cache_write, ...other }: Rates) => ({
  input: input ?? null,
  output: output ?? null,
  cache_read: cache_read ?? null,
  cache_write: cache_write ?? null,
  other,
})

/** GET /admin/pricing */
export const adminPricing = (router: Router) =>
  operation({
    id: 'admin.pricing',
    summary: 'Lists what the models cost at the moment.',
    access: 'admin',
    output: PricingResponse,
    async run(): Promise<PricingResponse> {
      const models = (await router.models()).filter(({ members }) => !members)
      const { prices } = router.state()
      return {
        version: prices.version,
        ...prices.origin,
        models: models.map(({ id, provider }) => {
          const price = prices.price(provider, id)
          const { tiers = [], ...own } = price ?? {}
          const { source = null, since = null } = prices.originOf(provider, id) ?? {}
          return {
            id,
            provider,
            priced: price !== undefined,
            ...view(own),
            tiers: tiers.map(({ above, ...tier }) => ({ above, ...view(tier) })),
            source,
            since,
          }
        }),
      }
    },
  })

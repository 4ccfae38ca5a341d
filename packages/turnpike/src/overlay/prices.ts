/** Prices that administrators set while the server runs. @module */
import type { PriceRow } from '@turnpike/core'
import { parsePrices } from '@turnpike/core'
import { unitClasses } from '@turnpike/core/internal'
import type { GatewayRoute } from '@turnpike/gateway'
import { actorOf, operation } from '@turnpike/gateway'
import { route } from '@turnpike/http'
import * as v from 'valibot'
import type { Administered } from './operations.js'
import { Name, notFound, orInvalid, withoutNull } from './operations.js'
import { ENTRY_BYTES } from './store.js'

/** US dollars per million of each class of units. */
const rates = Object.fromEntries(unitClasses.map((name) => [name, v.optional(v.number())]))
const price = { ...rates, tiers: v.optional(v.array(v.object({ above: v.number(), ...rates }))) }
const Row = v.object({ ...price, service_tiers: v.optional(v.record(v.string(), v.object(price))) })
const StoredPrice = v.object({
  /** `provider/model`, or `*\/model` for every provider. */
  model: v.string(),
  price: Row,
  since: v.string(),
  /** Why it is left out; absent = it is used. */
  fault: v.optional(v.string()),
})
const Prices = v.object({
  /** By the names of their models. */
  prices: v.array(StoredPrice),
})
/** What a row may have is checked as in a file of prices. */
const PriceBody = v.pipe(
  v.looseObject({}),
  v.description('A row of a table of prices (docs/pricing.md): US dollars per million of each class of units.'),
)
const params = v.object({ model: Name })

type StoredPrice = v.InferOutput<typeof StoredPrice>

export function priceRoutes(administered: () => Administered): GatewayRoute[] {
  const list = operation({
    id: 'admin.prices',
    summary: 'Lists the prices in the store, which go before those of the configuration.',
    access: 'admin',
    output: Prices,
    run: () => ({
      prices: administered().read.prices.map(({ entry: { name, value, updated_at }, row, fault }): StoredPrice => ({
        model: name,
        price: (row ?? (value as PriceRow)) as StoredPrice['price'],
        since: updated_at,
        ...(fault !== undefined && { fault }),
      })),
    }),
  })

  const put = operation({
    id: 'admin.prices.put',
    summary: 'Sets the price of a model, by provider/model, for the requests from now on.',
    access: 'admin',
    params,
    body: PriceBody,
    example: { input: 0.5, output: 1.5 },
    output: StoredPrice,
    async run(caller, { params: { model }, body }): Promise<StoredPrice> {
      const given = withoutNull(body)
      const value = (await orInvalid(() => parsePrices({ [model]: given })))[model]!
      const { prices } = await administered().change(() => ({
        kind: 'prices',
        name: model,
        value: value as Record<string, number>,
        action: 'price.update',
        by: actorOf(caller),
      }))
      const { updated_at } = prices.find(({ entry }) => entry.name === model)!.entry
      return { model, price: value as StoredPrice['price'], since: updated_at }
    },
  })

  const remove = operation({
    id: 'admin.prices.remove',
    summary: 'Removes a price from the store; that of the configuration is in force again.',
    access: 'admin',
    params,
    errors: [404],
    async run(caller, { params: { model: name } }) {
      await administered().change(({ entries }) => {
        if (entries.some((one) => one.kind === 'prices' && one.name === name))
          return { kind: 'prices', name, value: null, action: 'price.delete', by: actorOf(caller) }
        throw notFound('price')
      })
    },
  })

  return [
    route('GET', '/admin/prices', list, { convention: true }),
    route('PUT', '/admin/prices/{model+}', put, { convention: true, bodyLimit: ENTRY_BYTES }),
    route('DELETE', '/admin/prices/{model+}', remove, { status: 204, convention: true }),
  ]
}

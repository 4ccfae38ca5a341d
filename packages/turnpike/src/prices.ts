import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { PriceSource } from '@turnpike/core'
import {
  fixedPrices,
  fromLitellm,
  fromModelsDev,
  livePrices,
  modelsFromModelsDev,
  parsePrices,
  priceTable,
} from '@turnpike/core'
import { excess, jsonCount, readAtMost } from '@turnpike/core/helpers'
import { JSON_DEPTH } from '@turnpike/core/internal'
import { builtInPrices, builtInRows } from '@turnpike/providers'

/** The public price tables, with their URLs and parsers. */
const tables = {
  'models.dev': {
    url: 'https://models.dev/api.json',
    parse: (json: unknown) => fromModelsDev(json).rows,
    models: modelsFromModelsDev,
  },
  litellm: {
    url: 'https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json',
    parse: (json: unknown) => fromLitellm(json).rows,
    models: undefined,
  },
}

/** Time-out for loading a price table, in milliseconds. */
const LOAD_MS = 30_000

/** Most bytes of a public price table, and most values and fields: the larger one has some 2 MB. */
const TABLE_BYTES = 16 * 1024 * 1024
const TABLE_VALUES = 1_000_000

async function load(url: string): Promise<unknown> {
  const response = await fetch(url, { signal: AbortSignal.timeout(LOAD_MS) })
  if (!response.ok) throw new Error(`GET ${url} failed with status ${response.status}`)
  const tooLarge = () => new Error(`GET ${url} has more than ${TABLE_BYTES} bytes`)
  const text = new TextDecoder().decode(await readAtMost(response.body, TABLE_BYTES, tooLarge))
  const tooMuch = excess(text, JSON_DEPTH, jsonCount(TABLE_VALUES, TABLE_VALUES))
  if (tooMuch) throw new Error(`GET ${url} ${tooMuch}`)
  return JSON.parse(text)
}

/** The rows of a file, which may name a model alone, as its upstream does (`llama3.2`, `meta-llama/Llama-3.1-8B`): each is for every provider as well. */
const forEveryProvider = (json: unknown): unknown =>
  typeof json !== 'object' || json === null || Array.isArray(json)
    ? json
    : Object.fromEntries(
        Object.entries(json).flatMap(([name, row]: [string, unknown]) => [
          ...(name.includes('/') ? [[name, row]] : []),
          [`*/${name}`, row],
        ]),
      )

const publicTable = (setting: string) => /^(models\.dev|litellm)(?::(.+))?$/.exec(setting)
/** Whether a setting is the path of a table. */
export const isPriceFile = (setting: string): boolean => setting !== 'built-in' && !publicTable(setting)

/** Removes credentials, query and fragment from a URL. */
const withoutSecrets = (address: string): string => address.replace(/[?#].*$/, '').replace(/\/\/[^/]*@/, '//')

/**
 * Opens the price source of the setting `PRICES`: `built-in`, a public table, or the path of a JSON file.
 * @param onError called if a public table cannot be loaded
 * @throws if the file cannot be read or is not a valid price table
 */
export async function openPrices(setting: string, onError: (error: unknown) => void): Promise<PriceSource> {
  if (setting === 'built-in') return builtInPrices()
  const [, name, own] = publicTable(setting) ?? []
  if (name === undefined) {
    try {
      const given = parsePrices(forEveryProvider(JSON.parse(await readFile(setting, 'utf8'))))
      const builtIn = builtInPrices().table().origin
      const rows = Object.entries(builtInRows()).filter(([id]) => !Object.hasOwn(given, id.replace(/^[^/]+/, '*')))
      const own = { source: basename(setting), since: new Date().toISOString() }
      return fixedPrices(
        priceTable({ ...Object.fromEntries(rows), ...given }, own, (id) => (Object.hasOwn(given, id) ? own : builtIn)),
      )
    } catch (error) {
      throw new Error(
        `prices must be built-in, models.dev, litellm or the path of a table: ${(error as Error).message}`,
        {
          cause: error,
        },
      )
    }
  }
  const { url, parse, models } = tables[name as keyof typeof tables]
  const address = own ?? url
  const prices = livePrices({
    load: () => load(address),
    parse,
    ...(models && { models }),
    // The URL of a mirror may contain credentials.
    source: withoutSecrets(address),
    first: builtInPrices().table(),
    onError,
  })
  // Not awaited: the built-in prices apply until the table is loaded, so that the server also starts without a network.
  void prices.refresh()
  return prices
}

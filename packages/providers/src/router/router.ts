import type { Choice, Model, Need, PriceSource, PriceTable, Provider, Router, Target, Task } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import { extend, unsupported } from '@turnpike/core/internal'
import { builtInPrices, factsOf } from '../catalogue.js'
import { fidelityOf } from '../fidelity.js'
import type { AttemptOptions } from './attempt.js'
import { attempt } from './attempt.js'
import type { Candidate, Ranking } from './candidates.js'
import { byCost, inOrder } from './candidates.js'
import { Choices } from './choices.js'
import type { HealthOptions } from './health.js'
import { Health } from './health.js'
import { midSize } from './mid-size.js'

/** Options of {@link createRouter}. */
export interface RouterOptions extends AttemptOptions, HealthOptions {
  /**
   * In order of preference. Providers with the same id are instances of one provider with several keys or addresses: requests rotate
   * among them, and if one is busy or its key is rejected, the next is tried.
   */
  providers: Provider[]
  /** The prices of models; default the built-in ones. */
  prices?: PriceSource
  /** Model groups, such as `{ fast: ['openai/gpt-4o-mini', 'gemini-2.5-flash'] }`, in order of preference; default none. */
  groups?: Record<string, string[]>
  /**
   * The models that {@link Router.agentModels} answers: ids, or names of groups. Default: the mid-size chat model (docs/routing.md) of the
   * first provider that lists one, and as the alternative that of the next such provider.
   */
  defaults?: { agent?: string; agentAlternative?: string }
}

/** Aliases of provider ids. */
const aliases: Record<string, string> = { gemini: 'google' }

const tasks: Task[] = ['chat', 'embeddings', 'images', 'speech', 'transcription']

/** Maximum length of a model id in characters: it is in usage records and in a response header. */
const ID_LENGTH = 256

const never = new AbortController().signal

const invalidModel = (message: string): ApiError =>
  new ApiError(400, 'invalid_request_error', message, { code: 'model_not_found' })

/** A model id without the prefix `models/` of Google's own ids. */
const plainId = (model: string): string => (model.startsWith('models/') ? model.slice('models/'.length) : model)

/** A provider instance and the model id to request from it. */
interface Place {
  provider: Provider
  model: string
}

/**
 * Creates a router. It selects providers by the `provider` field, else by the prefix of the model id (`openai/gpt-4o`), else by the
 * catalogue, else by the families whose ids match. Among several, `auto` prefers the cheapest; otherwise the configured order decides.
 * @example createRouter({ providers: [openai({ apiKey })] })
 */
export function createRouter(options: RouterOptions): Router {
  const { providers, prices = builtInPrices(), now = Date.now } = options
  const groups = new Map(Object.entries(options.groups ?? {}))
  const health = new Health(options)
  const choices = new Choices()
  /** The instances of each provider by its id. */
  const byId = new Map<string, Provider[]>()
  for (const provider of providers) {
    const { id } = provider
    // The id is used as a prefix of model ids, as a value of `provider` beside `auto`, and in headers.
    if (!/^[\w.-]+$/.test(id) || id === 'auto') throw new TypeError(`"${id}" cannot be the id of a provider`)
    byId.set(id, [...(byId.get(id) ?? []), provider])
  }

  const idOf = (word: string): string | undefined =>
    byId.has(word) ? word : byId.has(aliases[word] ?? '') ? aliases[word] : undefined

  /** The index of the instance to try first in the next request, by provider id. */
  const nextInstance = new Map<string, number>()
  /** The instances of a provider in round-robin order. */
  const instances = (id: string): Provider[] => {
    const all = byId.get(id)!
    const first = nextInstance.get(id) ?? 0
    return first === 0 ? all : [...all.slice(first), ...all.slice(0, first)]
  }
  /** Makes the next request begin with other instances of these providers. */
  const rotate = (places: Place[]): void => {
    for (const id of new Set(places.map(({ provider }) => provider.id)))
      nextInstance.set(id, ((nextInstance.get(id) ?? 0) + 1) % byId.get(id)!.length)
  }

  const listed = async (): Promise<Model[]> =>
    (await Promise.all([...byId.values()].map(([provider]) => provider!.models({ signal: never })))).flat()

  /** The listed models by model id, then by provider id. */
  let catalogue: Map<string, Map<string, Model>> | undefined
  const readCatalogue = async (): Promise<Map<string, Map<string, Model>>> => {
    const read = new Map<string, Map<string, Model>>()
    for (const model of await listed()) {
      const of = read.get(model.id) ?? new Map<string, Model>()
      read.set(model.id, of.set(model.provider, model))
    }
    return read
  }

  /** The provider that a model id names by its prefix. */
  const prefixOf = (asked: string): string | undefined => {
    const slash = asked.indexOf('/')
    return slash > 0 ? idOf(asked.slice(0, slash)) : undefined
  }

  /** The providers that list a model, else those to whose family it belongs. */
  const ownersOf = (known: Map<string, Map<string, Model>>, model: string): string[] => {
    const listing = known.get(model)
    return listing ? [...listing.keys()] : [...byId.keys()].filter((id) => byId.get(id)![0]!.owns?.(model))
  }

  const serving = (known: Map<string, Map<string, Model>>, asked: string, wanted: string | undefined): Place[] => {
    const prefix = prefixOf(asked)
    const rest = prefix === undefined ? asked : asked.slice(asked.indexOf('/') + 1)
    const at = (id: string, model: string): Place[] => instances(id).map((provider) => ({ provider, model }))
    // Some providers list model ids that begin with another provider's name.
    if (wanted !== undefined) return at(wanted, prefix !== wanted && known.get(asked)?.has(wanted) ? asked : rest)
    if (prefix !== undefined) return at(prefix, rest)
    const ids = ownersOf(known, asked)
    return ids.length === 1 ? at(ids[0]!, asked) : ids.flatMap((id) => at(id, asked))
  }

  /** The providers that have the requested model, in order of preference. */
  const placesOf = (known: Map<string, Map<string, Model>>, { task, request }: Need): Place[] => {
    const { model, provider: word } = request
    const wanted = word && word !== 'auto' ? idOf(word) : undefined
    if (word && word !== 'auto' && wanted === undefined) {
      const allowed = [...byId.keys(), 'auto'].map((id) => `"${id}"`).join(', ')
      throw new ApiError(400, 'invalid_request_error', `Unknown provider; the configured ones are ${allowed}`, {
        code: 'invalid_body',
      })
    }
    if (model.length > ID_LENGTH) throw invalidModel(`A model id has at most ${ID_LENGTH} characters`)
    const group = groups.get(model)
    const places = group
      ? group
          .flatMap((id) => serving(known, id, undefined))
          .filter(({ provider: { id } }) => !wanted || id === wanted)
          // A group may contain the same model under two names.
          .filter((one, i, all) => i === all.findIndex((o) => o.provider === one.provider && o.model === one.model))
      : serving(known, model, wanted)
    const able = places.filter((place) => task in place.provider && place.model !== '')
    if (able.length === 0) throw invalidModel(`No configured provider has the model "${model.slice(0, 100)}"`)
    return able
  }

  const targetOf = (table: PriceTable, { provider, model }: Place): Target => ({
    provider,
    model,
    price: table.price(provider.id, plainId(model)),
    catalogue: table.version,
  })

  const rank = (known: Map<string, Map<string, Model>>, need: Need, places: Place[]): Ranking => {
    const table = prices.table()
    const byPrice = need.request.provider === 'auto'
    const candidates = places.map((place): Candidate => {
      const { provider, model } = place
      const id = plainId(model)
      const target = targetOf(table, place)
      const { context, maxOutput } = (byPrice && factsOf(provider.id, id)) || {}
      return {
        target,
        fits: provider.fits?.(need) !== false,
        model: byPrice ? known.get(id)?.get(provider.id) : undefined,
        context,
        maxOutput,
        healthy: health.available(provider),
        limited: health.limited(target),
      }
    })
    return byPrice ? byCost(candidates, need) : inOrder(candidates)
  }

  const choose = (known: Map<string, Map<string, Model>>, need: Need, requestId: string | undefined): Choice => {
    const places = placesOf(known, need)
    if (places.length === 1 && need.request.provider !== 'auto')
      return { targets: [targetOf(prices.table(), places[0]!)] }
    const ranking = rank(known, need, places)
    rotate(places)
    if (places.length > 1) choices.made(need, ranking, requestId, now())
    if (ranking.targets.length === 0)
      throw unsupported(`No configured provider of "${need.request.model.slice(0, 100)}" can do what is asked for`)
    return ranking
  }

  return {
    // Synchronous once the catalogue has been read.
    candidates: (need, requestId) =>
      catalogue
        ? choose(catalogue, need, requestId)
        : readCatalogue().then((read) => choose((catalogue = read), need, requestId)),
    async preview(need) {
      const known = (catalogue ??= await readCatalogue())
      const { by, order } = rank(known, need, placesOf(known, need))
      return { by, order }
    },
    attempt(targets, signal, run) {
      const choice = choices.of(targets[0]!)
      if (!choice) return attempt(targets, signal, run, health, options)
      const counted: typeof run = (target) => {
        choice.attempts++
        return run(target)
      }
      return attempt(targets, signal, counted, health, options).then((done) => {
        choice.served = { provider: done.target.provider.id, model: done.target.model }
        return done
      })
    },
    report: (target, error) => health.report(target, error),
    async models({ provider } = {}) {
      const all = await listed()
      return provider === undefined ? all : all.filter((model) => model.provider === idOf(provider))
    },
    async model(id) {
      const model = (await listed()).find((one) => one.id === id || `${one.provider}/${one.id}` === id)
      const { chat } = model?.capabilities.includes('chat') ? byId.get(model.provider)![0]! : {}
      return model && chat ? extend(model, { fidelity: fidelityOf(chat, model.id) }) : model
    },
    async agentModels() {
      const known = (catalogue ??= await readCatalogue())
      const table = prices.table()
      const midSizes = [...byId.keys()].flatMap((id) => {
        const listed = [...known.values()].flatMap((of) => of.get(id) ?? [])
        return midSize(listed, (model) => table.price(id, plainId(model.id))) ?? []
      })
      const idsOf = (model: Model | undefined): string[] => (model ? [`${model.provider}/${model.id}`] : [])
      const { agent, agentAlternative } = options.defaults ?? {}
      // The alternative is for failures of the agent's provider, and therefore of another one.
      const used = agent === undefined ? midSizes[0]?.provider : (prefixOf(agent) ?? ownersOf(known, agent)[0])
      const other = midSizes.find(({ provider }) => provider !== used)
      return [
        ...(agent === undefined ? idsOf(midSizes[0]) : [agent]),
        ...(agentAlternative === undefined ? idsOf(other) : [agentAlternative]),
      ]
    },
    health: () => providers.map((provider) => health.describe(provider)),
    state: () => ({
      providers: providers.map((provider) => ({
        ...health.describe(provider),
        tasks: tasks.filter((task) => task in provider),
        breaker: health.breaker(provider),
        limited: health.limits(provider),
      })),
      groups: Object.fromEntries(groups),
      choices: choices.list(),
      prices: prices.table(),
    }),
  }
}

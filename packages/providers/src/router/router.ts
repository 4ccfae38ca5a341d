import type { Choice, Model, Need, PriceSource, PriceTable, Provider, Router, Target, Task } from '@turnpike/core'
import { extend, unsupported } from '@turnpike/core/internal'
import { builtInPrices, factsOf } from '../catalogue.js'
import { fidelityOf } from '../fidelity.js'
import type { AttemptOptions } from './attempt.js'
import { attempt } from './attempt.js'
import type { Candidate, Ranking } from './candidates.js'
import { byCost, inOrder } from './candidates.js'
import { Choices } from './choices.js'
import type { Catalogue, Place } from './directory.js'
import { directory } from './directory.js'
import { groupModel } from './group-model.js'
import type { HealthOptions } from './health.js'
import { Health } from './health.js'
import { midSize } from './mid-size.js'
import { probe } from './probe.js'

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

const tasks: Task[] = ['chat', 'embeddings', 'images', 'speech', 'transcription']

/** A model id without the prefix `models/` of Google's own ids. */
const plainId = (model: string): string => (model.startsWith('models/') ? model.slice('models/'.length) : model)

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

  const { idOf, prefixOf, ownersOf, membersOf, placesOf, rotate } = directory(byId, groups)

  const listed = async (): Promise<Model[]> => {
    // Nothing aborts it. Made here, because Workers allow no signal before the first request.
    const { signal } = new AbortController()
    return (await Promise.all([...byId.values()].map(([provider]) => provider!.models({ signal })))).flat()
  }

  /** The listed models by model id, then by provider id. */
  let catalogue: Catalogue | undefined
  const readCatalogue = async (): Promise<Catalogue> => {
    const read = new Map<string, Map<string, Model>>()
    for (const model of await listed()) {
      const of = read.get(model.id) ?? new Map<string, Model>()
      read.set(model.id, of.set(model.provider, model))
    }
    return read
  }

  /** The groups that have a member, as models. */
  const groupModels = async (): Promise<Model[]> => {
    const known = (catalogue ??= await readCatalogue())
    return [...groups].flatMap(([name, ids]) => groupModel(name, membersOf(known, ids), known) ?? [])
  }

  const targetOf = (table: PriceTable, { provider, model }: Place): Target => {
    const id = plainId(model)
    return {
      provider,
      model,
      price: table.price(provider.id, id),
      catalogue: table.version,
      prices: table,
      limits: () => factsOf(provider.id, id),
    }
  }

  const rank = (known: Catalogue, need: Need, places: Place[]): Ranking => {
    const table = prices.table()
    const byPrice = need.request.provider === 'auto'
    const candidates = places.map((place): Candidate => {
      const { provider, model } = place
      const id = plainId(model)
      const target = targetOf(table, place)
      const { context, maxOutput } = (byPrice && target.limits?.()) || {}
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

  const choose = (known: Catalogue, need: Need, requestId: string | undefined): Choice => {
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
      choices.narrow(choice, targets)
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
    async groups({ provider } = {}) {
      const all = await groupModels()
      return provider === undefined ? all : all.filter((group) => group.provider === idOf(provider))
    },
    async model(id) {
      const group = groups.has(id) && (await groupModels()).find((one) => one.id === id)
      if (group) return group
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
    async probe(id) {
      const instances = byId.get(id)
      return instances && probe(instances, health)
    },
    health: () => providers.map((provider) => health.describe(provider)),
    state: () => ({
      providers: providers.map((provider) => {
        const learnt = provider.learnt?.() ?? []
        return {
          ...health.describe(provider),
          tasks: tasks.filter((task) => task in provider),
          breaker: health.breaker(provider),
          limited: health.limits(provider),
          ...(learnt.length > 0 && { learnt }),
        }
      }),
      groups: Object.fromEntries(groups),
      choices: choices.list(),
      prices: prices.table(),
    }),
  }
}

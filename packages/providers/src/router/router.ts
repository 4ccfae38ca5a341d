import type { Choice, Model, Need, PriceSource, PriceTable, Provider, Router, Target, Task } from '@turnpike/core'
import { extend, undated, unsupported } from '@turnpike/core/internal'
import { builtInPrices, limitsOf } from '../catalogue.js'
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
  const { providers, now = Date.now, prices = builtInPrices(now) } = options
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

  const { idOf, prefixOf, spelt, ownersOf, membersOf, placesOf, rotate } = directory(byId, groups)

  /** The models that the providers list themselves. */
  const ownModels = async (): Promise<Model[]> => {
    // Nothing aborts it. Made here, because Workers allow no signal before the first request.
    const { signal } = new AbortController()
    return (await Promise.all([...byId.values()].map(([provider]) => provider!.models({ signal })))).flat()
  }

  /** Adds the models that a public table tells of and a provider does not list, where they are of its id and family and do what it is asked for. */
  const withTold = (own: Model[], told: PriceTable['models'] = {}): Model[] => {
    const known = new Set(own.map(({ provider, id }) => `${provider}/${id}`))
    const added = Object.entries(told).flatMap(([name, { capabilities, created }]): Model[] => {
      const provider = name.slice(0, name.indexOf('/'))
      const id = name.slice(provider.length + 1)
      const [instance] = byId.get(provider) ?? []
      const isOffered = instance?.owns?.(id) && capabilities.some((capability) => capability in instance)
      return !isOffered || known.has(name) || known.has(undated(name))
        ? []
        : [{ id, object: 'model', created, owned_by: provider, provider, capabilities }]
    })
    return [...own, ...added]
  }
  const listed = async (): Promise<Model[]> => withTold(await ownModels(), prices.table().models)

  /** What the providers list, as it was read first. */
  let own: Model[] | undefined
  /** The catalogue of these and of what a table tells. */
  let made: { told: PriceTable['models']; catalogue: Catalogue } | undefined

  /** The listed models by model id, then by provider id; undefined until what the providers list has been read. */
  const knownCatalogue = ({ models: told }: PriceTable): Catalogue | undefined => {
    if (!own || (made && made.told === told)) return made?.catalogue
    const catalogue = new Map<string, Map<string, Model>>()
    for (const model of withTold(own, told)) {
      const of = catalogue.get(model.id) ?? new Map<string, Model>()
      catalogue.set(model.id, of.set(model.provider, model))
    }
    made = { told, catalogue }
    return catalogue
  }
  const readCatalogue = async (table: PriceTable): Promise<Catalogue> => {
    own ??= await ownModels()
    return knownCatalogue(table)!
  }

  /** The groups that have a member, as models. */
  const groupModels = async (): Promise<Model[]> => {
    const known = await readCatalogue(prices.table())
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
      limits: () => limitsOf(provider.id, id, table.models),
    }
  }

  const rank = (known: Catalogue, table: PriceTable, need: Need, places: Place[]): Ranking => {
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

  const choose = (known: Catalogue, table: PriceTable, need: Need, requestId: string | undefined): Choice => {
    const places = placesOf(known, need)
    if (places.length === 1 && need.request.provider !== 'auto') return { targets: [targetOf(table, places[0]!)] }
    const ranking = rank(known, table, need, places)
    rotate(places)
    if (places.length > 1) choices.made(need, ranking, requestId, now())
    if (ranking.targets.length === 0)
      throw unsupported(`No configured provider of "${need.request.model.slice(0, 100)}" can do what is asked for`)
    return ranking
  }

  return {
    // Synchronous once the catalogue has been read.
    candidates(need, requestId) {
      const table = prices.table()
      const known = knownCatalogue(table)
      return known
        ? choose(known, table, need, requestId)
        : readCatalogue(table).then((read) => choose(read, table, need, requestId))
    },
    async preview(need) {
      const table = prices.table()
      const known = await readCatalogue(table)
      const { by, order } = rank(known, table, need, placesOf(known, need))
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
    members: (name) => groups.get(name)?.map(spelt),
    async model(id) {
      const group = groups.has(id) && (await groupModels()).find((one) => one.id === id)
      if (group) return group
      const model = (await listed()).find((one) => one.id === id || `${one.provider}/${one.id}` === id)
      const { chat } = model?.capabilities.includes('chat') ? byId.get(model.provider)![0]! : {}
      return model && chat ? extend(model, { fidelity: fidelityOf(chat, model.id) }) : model
    },
    async agentModels() {
      const table = prices.table()
      const known = await readCatalogue(table)
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

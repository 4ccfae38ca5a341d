import type {
  Choice,
  Model,
  Need,
  PriceSource,
  PriceTable,
  Provider,
  RateLimiter,
  Router,
  Target,
  CallKind,
} from '@turnpike/core'
import { memoryRateLimiter } from '@turnpike/core'
import type { OptionNames } from '@turnpike/core/helpers'
import { checkOptions, extend } from '@turnpike/core/helpers'
import { unsupported } from '@turnpike/core/internal'
import { builtInPrices, limitsOf } from '../models/catalogue.js'
import { fidelityOf } from '../models/fidelity.js'
import { aliasesOf, withAliases } from './aliases.js'
import type { AttemptOptions } from './attempt.js'
import { attempt } from './attempt.js'
import type { Candidate, Ranking } from './candidates.js'
import { byCost, inOrder } from './candidates.js'
import { Choices } from './choices.js'
import type { Deployment } from './deployments.js'
import { callOptionsOf, deploymentsOf } from './deployments.js'
import type { Catalogue, Place } from './directory.js'
import { catalogueOf, directory } from './directory.js'
import { groupModel } from './group-model.js'
import type { Group, GroupMember, ModelGroup } from './groups.js'
import { groupsOf } from './groups.js'
import type { HealthOptions } from './health.js'
import { Health } from './health.js'
import type { Lists } from './listings.js'
import { Listings } from './listings.js'
import { midSize } from './mid-size.js'
import { withOwnPrices } from './own-prices.js'
import { Plans, tokensOfFailure } from './plans.js'
import { probe } from './probe.js'
import { Quotas } from './quotas.js'
import { Rotation } from './rotation.js'
import { withTold } from './told-models.js'

/** Options of {@link createRouter}. */
export interface RouterOptions extends AttemptOptions, HealthOptions {
  /**
   * In order of preference. Providers with the same id are instances of one provider with several keys or addresses: calls are shared among
   * them by weight, and if one is busy or its key is rejected, the next is tried.
   */
  providers: (Provider | Deployment)[]
  /**
   * Counts what deployments use in a minute, where they have limits; default {@link memoryRateLimiter}, which is exact within one process. One on a store
   * counts for all processes that share it, which must have the same deployments in the same order.
   */
  rateLimiter?: RateLimiter
  /**
   * Whether the requests of a session go to the same deployment and group member, as long as that does not rest and has room, so that they find their
   * prompt in its cache. Many sessions are shared by weight. Default false: all requests in turn.
   */
  sticky?: boolean
  /** The prices of models; default the built-in ones. */
  prices?: PriceSource
  /**
   * Model groups, such as `{ fast: ['openai/gpt-4o-mini', 'gemini-2.5-flash'] }`, in order of preference, with a weight for those that share the calls;
   * or with options of their own. Default none.
   */
  groups?: Record<string, (string | GroupMember)[] | Group>
  /**
   * The models that {@link Router.agentModels} answers: ids, or names of groups. Default: the mid-size chat model (docs/routing.md) of the
   * first provider that lists one, and as the alternative that of the next such provider.
   */
  defaults?: { agent?: string; agentAlternative?: string }
  /**
   * A router that this one takes the place of: of the providers that both have, health and lists of models go over, and so do the last choices.
   * Default none.
   */
  replaces?: Router
}

const names: OptionNames<RouterOptions> = {
  providers: true,
  rateLimiter: false,
  sticky: false,
  prices: false,
  groups: false,
  defaults: false,
  replaces: false,
  retries: false,
  maxWaitMs: false,
  failoverStatuses: false,
  failures: false,
  restMs: false,
  now: false,
}

/** What goes over to a router that replaces another. */
const kept = new WeakMap<Router, { health: Health; listings: Listings; choices: Choices }>()

const tasks: CallKind[] = ['chat', 'embeddings', 'images', 'speech', 'transcription']

/** A model id without the prefix `models/` of Google's own ids. */
const plainId = (model: string): string => (model.startsWith('models/') ? model.slice('models/'.length) : model)

/**
 * Creates a router. It selects providers by the `provider` field, else by the prefix of the model id (`openai/gpt-4o`), else by the
 * catalogue, else by the families whose ids match. Among several, `auto` prefers the cheapest; otherwise the configured order decides.
 * @throws TypeError that names an option which is missing or unknown
 * @example createRouter({ providers: [openai({ apiKey })] })
 */
export function createRouter({ replaces, ...options }: RouterOptions): Router {
  checkOptions('createRouter', options, names)
  const deployments = deploymentsOf('createRouter', options.providers)
  const providers = deployments.map(({ provider }) => provider)
  const { now = Date.now, prices = builtInPrices(now) } = options
  const withOwn = withOwnPrices('createRouter', providers, now())
  /** The prices in force. */
  const tableNow = (): PriceTable => withOwn(prices.table())
  const aliases = aliasesOf('createRouter', deployments)
  const callOptions = new Map(deployments.map((deployment) => [deployment.provider, callOptionsOf(deployment)]))
  const groups = groupsOf('createRouter', options.groups, options)
  const before = replaces && kept.get(replaces)
  const health = new Health(options, before?.health)
  const quotas = new Quotas(deployments, options.rateLimiter ?? memoryRateLimiter({ now }), now)
  const choices = before?.choices ?? new Choices()
  /** The instances of each provider by its id. */
  const byId = new Map<string, Provider[]>()
  for (const provider of providers) byId.set(provider.id, [...(byId.get(provider.id) ?? []), provider])
  /** Of the providers with several instances. */
  const rotations = new Map<string, Rotation<Provider>>()
  for (const [id, { length }] of byId) {
    const instances = deployments.filter(({ provider }) => provider.id === id)
    const weights = new Map(instances.map(({ provider, weight = 1 }) => [provider, weight]))
    if (length > 1) rotations.set(id, new Rotation(id, weights))
  }
  const plans = new Plans(rotations, health, quotas, choices)

  const { idOf, membersNamed, serving, membersOf, placesOf, fallbackPlaces } = directory(
    byId,
    rotations,
    groups,
    aliases,
  )
  const listings = new Listings(byId, now, before?.listings)

  /** What the lists and what a table tells come to. */
  let made: { lists: Lists; told: PriceTable['models']; models: Model[]; catalogue: Catalogue } | undefined

  const join = (lists: Lists, { models: told }: PriceTable): NonNullable<typeof made> => {
    if (made?.lists === lists && made.told === told) return made
    const models = withAliases(withTold(byId, lists.models, told), aliases)
    return (made = { lists, told, models, catalogue: catalogueOf(models, lists.unlisted) })
  }
  const readModels = async (): Promise<Model[]> => join(await listings.read(), tableNow()).models
  const readCatalogue = async (table: PriceTable): Promise<Catalogue> => join(await listings.read(), table).catalogue

  /** The groups that have a member, as models. */
  const groupModels = async (): Promise<Model[]> => {
    const known = await readCatalogue(tableNow())
    return [...groups].flatMap(([name, group]) => groupModel(name, membersOf(known, group), known) ?? [])
  }

  const targetOf = (table: PriceTable, { provider, model }: Place, need: Need): Target => {
    const id = plainId(model)
    return {
      provider,
      model,
      need,
      price: table.price(provider.id, id),
      catalogue: table.version,
      prices: table,
      options: callOptions.get(provider),
      limits: () => limitsOf(provider.id, id, table.models, provider.own),
    }
  }

  const rank = (known: Catalogue, table: PriceTable, need: Need, places: Place[]): Ranking => {
    const byPrice = need.request.provider === 'auto'
    const candidates = places.map((place): Candidate => {
      const { provider, model } = place
      const id = plainId(model)
      const target = targetOf(table, place, need)
      plans.join(target, place.member)
      const listed = byPrice ? known.listed.get(id)?.get(provider.id) : undefined
      const { context, maxOutput } = (byPrice && target.limits?.()) || {}
      return {
        target,
        fits: provider.fits?.(need) !== false,
        model: listed && listed.capabilities.length > 0 ? listed : undefined,
        context,
        maxOutput,
        rest: health.rest(target),
      }
    })
    return byPrice ? byCost(candidates, need) : inOrder(candidates)
  }

  /** The targets that are called where a member of a group refuses a request. */
  const fallbacksOf = (
    { fallbacks }: ModelGroup,
    ...[known, table, need, session]: [Catalogue, PriceTable, Need, string | undefined]
  ): Target[] =>
    fallbacks.flatMap(([fallback, model]) =>
      fallbackPlaces(known, need, model, session).map((place): Target => ({
        ...targetOf(table, place, need),
        fallback,
      })),
    )

  /** Chooses among several places, or by a price or the options of a group. */
  const compare = (
    places: Place[],
    group: ModelGroup | undefined,
    known: Catalogue,
    table: PriceTable,
    need: Need,
    requestId?: string,
    session?: string,
  ): Choice => {
    const ranking = rank(known, table, need, places)
    const choice = places.length > 1 ? choices.made(need, ranking, requestId, now()) : undefined
    const fallbacks = group ? fallbacksOf(group, known, table, need, session) : []
    // Where the context of all members is too small, as far as that can be known before a call, their fallback is called at once.
    const isTooLong = ranking.order.some(({ excluded }) => excluded === 'context')
    const targets =
      ranking.targets.length > 0
        ? [...ranking.targets, ...fallbacks]
        : fallbacks.filter(({ fallback }) => fallback === 'length' && isTooLong)
    if (targets.length === 0)
      throw unsupported(`No configured provider of "${need.request.model.slice(0, 100)}" can do what is asked for`)
    plans.make(targets, { need, choice, options: group?.attempt ?? options, isStuck: session !== undefined })
    return { ...ranking, targets }
  }

  const choose = (known: Catalogue, table: PriceTable, need: Need, requestId?: string, session?: string): Choice => {
    const places = placesOf(known, need, session)
    const group = groups.get(need.request.model)
    if (places.length > 1 || group || need.request.provider === 'auto')
      return compare(places, group, known, table, need, requestId, session)
    const targets = [targetOf(table, places[0]!, need)]
    if (quotas.isUsed) plans.make(targets, { need, options, isStuck: true })
    return { targets }
  }

  const router: Router = {
    // Synchronous once the lists have been read.
    candidates(need, requestId, session) {
      const stuck = options.sticky ? session : undefined
      const table = tableNow()
      const lists = listings.known()
      return lists
        ? choose(join(lists, table).catalogue, table, need, requestId, stuck)
        : readCatalogue(table).then((read) => choose(read, table, need, requestId, stuck))
    },
    async preview(need) {
      const table = tableNow()
      const known = await readCatalogue(table)
      const { by, order } = rank(known, table, need, placesOf(known, need))
      return { by, order }
    },
    attempt(targets, signal, run) {
      const plan = plans.of(targets[0]!)
      return plan ? plans.attempt(plan, targets, signal, run) : attempt(targets, signal, run, health, options)
    },
    report(target, error, usage) {
      health.report(target, error)
      if (quotas.isUsed)
        quotas.settle(target, usage ? usage.prompt_tokens + usage.completion_tokens : tokensOfFailure(error))
    },
    async models({ provider } = {}) {
      const all = await readModels()
      return provider === undefined ? all : all.filter((model) => model.provider === idOf(provider))
    },
    async groups({ provider } = {}) {
      const all = await groupModels()
      return provider === undefined ? all : all.filter((group) => group.provider === idOf(provider))
    },
    members: membersNamed,
    async model(id) {
      const group = groups.has(id) && (await groupModels()).find((one) => one.id === id)
      if (group) return group
      const known = await readCatalogue(tableNow())
      const [found] = serving(known, id).flatMap(({ provider, model, alias = model }) => {
        const listed = known.listed.get(alias)?.get(provider.id)
        return listed ? { listed, asked: alias === model ? listed.id : model } : []
      })
      if (!found) return undefined
      const { listed: model, asked } = found
      const { capabilities } = model
      const { chat } = capabilities.length === 0 || capabilities.includes('chat') ? byId.get(model.provider)![0]! : {}
      return chat ? extend(model, { fidelity: fidelityOf(chat, asked) }) : model
    },
    async agentModels() {
      const table = tableNow()
      const { models, catalogue } = join(await listings.read(), table)
      const midSizes = [...byId.keys()].flatMap((id) => {
        const listed = models.filter(({ provider, members }) => provider === id && !members)
        return midSize(listed, (model) => table.price(id, plainId(model.id))) ?? []
      })
      const idsOf = (model: Model | undefined): string[] => (model ? [`${model.provider}/${model.id}`] : [])
      const { agent, agentAlternative } = options.defaults ?? {}
      // The alternative is for failures of the agent's provider, and therefore of another one.
      const used = agent === undefined ? midSizes[0]?.provider : serving(catalogue, agent)[0]?.provider.id
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
      groups: Object.fromEntries([...groups].map(([name, { tiers }]) => [name, tiers.flatMap(({ models }) => models)])),
      choices: choices.list(),
      prices: tableNow(),
    }),
  }
  kept.set(router, { health, listings, choices })
  return router
}

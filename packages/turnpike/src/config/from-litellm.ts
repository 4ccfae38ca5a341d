/** Conversion of LiteLLM's configuration. Source of its settings: LiteLLM's pages "All settings" and "Load balancing", November 2026. @module */
import type { Connection } from './litellm-provider.js'
import { connectionOf } from './litellm-provider.js'
import type { Note, Section } from './litellm-section.js'
import { Litellm } from './litellm-section.js'
import type { ConfigInput } from './schema.js'
import type { Tree } from './tree.js'
import { isTree } from './tree.js'

/** Deployments with the same key and address: a provider of ours. */
interface Provider {
  /** Another one with this key is for other models, or has other names for them. */
  key: string
  connection: Connection
  entries: Entry[]
  /** What its models are called there. */
  targets: Map<string, string>
  id: string
}

/** An entry of `model_list`. */
interface Entry {
  /** What callers ask for. */
  name: string
  model: string
  provider: Provider
  /** Those with a lower one are asked first. */
  order: number
  /** Its part of the load among those of its name and order; 0 = what these cannot serve. */
  weight: number
  given: Record<(typeof LOADS)[number], number | string | undefined>
  /** The id of the deployment, by which a fallback can name it. */
  ownId: string | undefined
  path: string
}

/** Models between which order does not decide, with their weights. */
type Tier = Map<string, number>

/** What gives the weights of deployments there: the first that one of them has. */
const LOADS = ['weight', 'rpm', 'tpm'] as const

const isName = (name: string | undefined): name is string => name !== undefined && /^\S+$/.test(name)
const isWildcard = ({ model }: { model: string }): boolean => model.endsWith('*')
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : value === undefined ? [] : [value])

/** Names of rates there and in a table of prices. */
const rates: [theirs: string, ours: string][] = [
  ['input_cost_per_token', 'input'],
  ['output_cost_per_token', 'output'],
  ['cache_read_input_token_cost', 'cache_read'],
  ['cache_creation_input_token_cost', 'cache_write'],
]

/** Notes the rates of a model in the form of a table of prices: dollars per million. */
function notePrices(section: Section, id: string): void {
  const given = rates.filter(([name]) => section.has(name))
  const [first] = given
  if (!first) return
  const row = given.map(([name, ours]) => [ours, Number((Number(section.take(name)) * 1e6).toPrecision(12))] as const)
  section.note(
    first[0],
    `the setting prices can name a table with ${JSON.stringify({ [id]: Object.fromEntries(row) })}`,
  )
}

/** The entries that have a provider here. */
function entriesOf(file: Litellm, list: unknown, credentials: ReadonlyMap<string, Tree>): Entry[] {
  if (list !== undefined && list !== null && !Array.isArray(list)) file.note('model_list', 'it must be a list')
  const providers: Provider[] = []
  return (Array.isArray(list) ? list : []).flatMap((given: unknown, i): Entry | [] => {
    const entry = file.section(`model_list[${i}]`, given)
    const written = entry.take('litellm_params')
    const shared = isTree(written) ? credentials.get(String(written['litellm_credential_name'])) : undefined
    const params = file.section(entry.at('litellm_params'), shared ? { ...shared, ...(written as Tree) } : written)
    if (shared) params.take('litellm_credential_name')
    const info = entry.section('model_info')

    const name = entry.text('model_name')
    if (!isName(name)) entry.note('model_name', 'it must be a name without spaces')
    const base = info.text('base_model')?.replace(/^azure\//, '')
    const ownId = info.text('id')
    const mode = info.text('mode')
    if (mode && /completion|rerank|moderation|batch|responses|realtime/.test(mode))
      info.note('mode', 'there is no such endpoint')
    const connection = isName(name) ? connectionOf(file, params, base ?? name) : undefined
    const limit = (of: 'rpm' | 'tpm') => params.whole(of, 1) ?? entry.whole(of, 1)
    const load = {
      weight: params.number('weight', (weight) => weight >= 0, 'a number of at least 0'),
      rpm: limit('rpm'),
      tpm: limit('tpm'),
    }
    const order = params.number('order', () => true, 'a number')
    // Of an entry without a provider, nothing else is told.
    if (!isName(name) || !connection) return []
    for (const section of [params, info]) notePrices(section, `${connection.id}/${connection.model}`)
    for (const section of [entry, params, info]) section.end()

    const { model, settings, target = model } = connection
    const key = JSON.stringify([connection.id, settings])
    let provider = providers.find((one) => one.key === key && (one.targets.get(model) ?? target) === target)
    if (!provider) providers.push((provider = { key, connection, entries: [], targets: new Map(), id: '' }))
    const made = {
      ...{ name, model, provider, ownId, given: load, path: entry.path },
      order: typeof order === 'number' ? order : Infinity,
      weight: 1,
    }
    provider.targets.set(model, target)
    provider.entries.push(made)
    return made
  })
}

/** Weighs the entries of one name. */
function weigh(entries: readonly Entry[]): void {
  const load = LOADS.find((one) => entries.some(({ given }) => typeof given[one] === 'number'))
  if (load) for (const entry of entries) entry.weight = Number(entry.given[load]) || 0
}

/** The names and ids that an entry is served under, without those that are the same for all entries of a provider. */
const servedBy = ({ name, model, order, weight }: Entry): string => JSON.stringify([name, model, order, weight === 0])

/**
 * Gives the providers their ids. Those of one kind that serve the same entries, each by one weight, share an id: prices and lists of models are by id.
 * The plain id is that of a wildcard or of the vendor, rather than of another server with the API of the vendor.
 */
function identify(file: Litellm, providers: readonly Provider[]): void {
  const kinds = new Map<string, Provider[]>()
  for (const [i, provider] of providers.entries()) {
    const { connection, entries } = provider
    const isEven = entries.every(({ weight }) => weight === entries[0]!.weight)
    const kind = `${connection.id} ${isEven ? '' : i} ${[...new Set(entries.map(servedBy))].toSorted().join()}`
    kinds.set(kind, [...(kinds.get(kind) ?? []), provider])
  }
  const rank = ({ connection, entries }: Provider): number =>
    entries.some(isWildcard) ? 0 : connection.settings['baseURL'] === undefined ? 1 : 2
  const counts = new Map<string, number>()
  for (const sharing of [...kinds.values()].toSorted(([a], [b]) => rank(a!) - rank(b!))) {
    const { id } = sharing[0]!.connection
    const count = (counts.get(id) ?? 0) + 1
    counts.set(id, count)
    if (count > 1)
      file.note(
        `${sharing[0]!.entries[0]!.path}.litellm_params`,
        `its provider is ${id}-${count}, by which a table of prices must have its models`,
      )
    const isWeighted = sharing.some(({ entries: [one] }) => one!.weight !== sharing[0]!.entries[0]!.weight)
    for (const provider of sharing) {
      provider.id = count === 1 ? id : `${id}-${count}`
      if (isWeighted) provider.connection.settings['weight'] = provider.entries[0]!.weight
    }
  }
}

/** The settings of a provider. */
function settingsOf(file: Litellm, { connection, entries, targets, id }: Provider): Tree {
  const { type, ...settings } = connection.settings
  const renamed = [...targets].filter(([model, target]) => model !== target)
  const limits: Tree = {}
  for (const { given, path } of entries)
    for (const [theirs, ours] of [['rpm', 'requestsPerMinute'] as const, ['tpm', 'tokensPerMinute'] as const]) {
      if (given[theirs] === undefined) continue
      if (entries.length === 1) limits[ours] = given[theirs]
      else
        file.note(
          `${path}.litellm_params.${theirs}`,
          'limits are of a provider, and this key and address serve other entries, too',
        )
    }
  return {
    ...(id !== type && { id }),
    type,
    ...settings,
    ...(renamed.length > 0 && { [type === 'bedrock' ? 'profiles' : 'deployments']: Object.fromEntries(renamed) }),
    ...(!entries.some(isWildcard) && { models: [...targets.keys()] }),
    ...limits,
  }
}

/** The members of a name, the first tier first. */
function tiersOf(entries: readonly Entry[]): Tier[] {
  const rank = ({ order, weight }: Entry): [number, number] => [order, weight === 0 ? 1 : 0]
  const sorted = entries.toSorted((a, b) => {
    const [[order, last], [otherOrder, otherLast]] = [rank(a), rank(b)]
    return order === otherOrder ? last - otherLast : order - otherOrder
  })
  const tiers = new Map<string, Tier>()
  for (const entry of sorted) {
    const of = rank(entry).join()
    const tier = tiers.get(of) ?? new Map<string, number>()
    const id = `${entry.provider.id}/${entry.model}`
    tiers.set(of, tier.set(id, (tier.get(id) ?? 0) + (entry.weight || 1)))
  }
  return [...tiers.values()]
}

/** The models of a group. Weighted ones that follow one another share, so that those of a further tier have their order alone. */
function membersOf(tiers: readonly Tier[]): (string | { model: string; weight: number })[] {
  const seen = new Set<string>()
  let isShared = false
  return tiers.flatMap((tier) => {
    const left = [...tier].filter(([model]) => !seen.has(model))
    for (const [model] of left) seen.add(model)
    isShared = !isShared && left.length > 1
    return left.map(([model, weight]) => (isShared ? { model, weight } : model))
  })
}

const nameOf = ({ path }: Entry): string => `${path}.model_name`

/** The groups of the file: its names, aliases and fallbacks. */
function groupsOf(file: Litellm, entries: readonly Entry[], settings: readonly Section[]): Tree {
  const tiers = new Map<string, Tier[]>()
  const named = entries.filter((entry) => !isWildcard(entry) && !entry.name.includes('*'))
  for (const entry of entries)
    if (entry.name.includes('*') && !isWildcard(entry))
      file.note(nameOf(entry), 'names are whole; others go by the id of a model')
  const isAlone = new Set(entries.map(({ provider }) => provider.id)).size === 1
  for (const { name } of named) if (!tiers.has(name)) tiers.set(name, tiersOf(named.filter((one) => one.name === name)))
  const wildcards = entries.filter(isWildcard).map((entry) => {
    const {
      name,
      model,
      provider: { id },
    } = entry
    const [prefix, target] = [name.replace(/\*$/, ''), `${id}/${model.slice(0, -1)}`]
    const isSame = prefix === target || (prefix === 'gemini/' && target === 'google/') || (prefix === '' && isAlone)
    if (!isSame) file.note(nameOf(entry), `ids that no provider lists are called as ${target}…`)
    return { prefix, target }
  })

  /** What a name stands for; undefined, and noted, if it is unknown. */
  const find = (path: string, name: unknown): Tier[] | undefined => {
    const given = typeof name === 'string' ? name : ''
    const own = named.find(({ ownId }) => ownId === given)
    const wildcard = wildcards
      .filter(({ prefix }) => given.startsWith(prefix))
      .toSorted((a, b) => b.prefix.length - a.prefix.length)[0]
    const found =
      tiers.get(given) ??
      (own && tiersOf([own])) ??
      (wildcard && given && [new Map([[wildcard.target + given.slice(wildcard.prefix.length), 1]])])
    if (found) return found
    file.note(path, `${JSON.stringify(name)} is no model of this file that is carried over`)
    return undefined
  }
  /** The entries of a list of fallbacks, such as `[{ fast: [slow] }]`. */
  const pairs = (section: Section, setting: string) =>
    listOf(section.take(setting)).flatMap((one, i) => {
      const path = `${section.at(setting)}[${i}]`
      if (!isTree(one)) file.note(path, 'it must have lists of models by the names of models')
      return Object.entries(isTree(one) ? one : {}).map(([name, to]) => ({
        name,
        to: listOf(to),
        path: `${path}.${name}`,
      }))
    })

  const plain = new Map(tiers)
  for (const section of settings) {
    for (const { name, to, path } of pairs(section, 'fallbacks')) {
      const targets = to.flatMap((one) => (name === '*' ? [] : (find(path, one) ?? [])))
      const own = name === '*' ? undefined : find(path, name)
      if (name === '*') file.note(path, 'default_fallbacks is read')
      if (own && targets.length > 0) plain.set(name, [...(plain.get(name) ?? own), ...targets])
    }
  }
  for (const section of settings) {
    const path = section.at('default_fallbacks')
    const targets = listOf(section.take('default_fallbacks')).flatMap((one) => find(path, one) ?? [])
    for (const [name, own] of plain) plain.set(name, [...own, ...targets])
  }

  const options = new Map<string, Tree>()
  const single = { context_window_fallbacks: 'contextFallback', content_policy_fallbacks: 'contentFallback' }
  for (const section of settings)
    for (const [theirs, ours] of Object.entries(single))
      for (const { name, to, path } of pairs(section, theirs)) {
        const own = find(path, name)
        const [first, ...more] = to.flatMap((one) => find(path, one) ?? []).flatMap((tier) => [...tier.keys()])
        if (!own || first === undefined) continue
        if (!plain.has(name)) plain.set(name, own)
        if (more.length > 0) file.note(path, `only one model is tried: ${first}`)
        options.set(name, { ...options.get(name), [ours]: first })
      }

  for (const section of settings) {
    const aliases = section.section('model_group_alias')
    for (const [alias, to] of aliases.all()) {
      const name = isTree(to) ? to['model'] : to
      const found = typeof name === 'string' && plain.has(name) ? plain.get(name) : find(aliases.at(alias), name)
      if (!found) continue
      if (isTree(to) && to['hidden'] === true) aliases.note(alias, 'it is listed, too')
      plain.set(alias, found)
      if (options.has(String(name))) options.set(alias, options.get(String(name))!)
    }
  }
  return Object.fromEntries(
    [...plain].map(([name, own]) => {
      const models = membersOf(own)
      return [name, options.has(name) ? { models, ...options.get(name) } : models]
    }),
  )
}

/** The address of a store: the database, else Redis. */
function storeOf(general: Section, router: Section): string | undefined {
  const database = general.text('database_url')
  const isPostgres = database !== undefined && /^(postgres|postgresql):\/\/|^\$\{/.test(database)
  if (database !== undefined && !isPostgres) general.note('database_url', 'it must be that of PostgreSQL')
  if (isPostgres) general.note('database_url', 'keys, users and spend of LiteLLM stay where they are')
  const names = ['redis_url', 'redis_host', 'redis_port', 'redis_password', 'redis_ssl'].filter((name) =>
    router.has(name),
  )
  const [url, host, port = '6379', password] = ['redis_url', 'redis_host', 'redis_port', 'redis_password'].map((name) =>
    router.text(name),
  )
  const isTls = router.take('redis_ssl') === true
  const [first] = names
  if (isPostgres) {
    if (first) router.note(first, 'the store of everything is the database')
    return database
  }
  if (url !== undefined || host === undefined) return url
  const credential =
    password === undefined ? '' : `:${password.startsWith('${') ? password : encodeURIComponent(password)}@`
  return `redis${isTls ? 's' : ''}://${credential}${host}:${port}`
}

/** The first of several settings that is there; the others of them are noted. */
function firstOf<T>(
  sections: readonly Section[],
  names: readonly string[],
  read: (of: Section, name: string) => T | undefined,
) {
  let found: T | undefined
  for (const section of sections)
    for (const name of names) {
      if (!section.has(name)) continue
      if (found === undefined) found = read(section, name)
      else {
        section.take(name)
        section.note(name, 'another setting of this file says the same')
      }
    }
  return found
}

const without = (tree: Tree): Tree =>
  Object.fromEntries(
    Object.entries(tree).filter(
      ([, value]) => value !== undefined && !(isTree(value) && Object.keys(value).length === 0),
    ),
  )

/**
 * Converts the configuration of LiteLLM's proxy.
 * @param value what its `config.yaml` says; it is read as YAML 1.1, as LiteLLM does
 * @returns a configuration that takes secrets from the environment as the file does, and what is not carried over, or not as it was. Without a
 * provider, nothing was converted.
 */
export function fromLitellm(value: unknown): { config: ConfigInput; notes: Note[] } {
  const given = isTree(value) ? value : {}
  const file = new Litellm(given['environment_variables'])
  const top = file.section('', value)
  top.section('environment_variables').all()
  const credentials = new Map(
    listOf(top.take('credential_list')).map((one) => {
      const { credential_name, credential_values } = isTree(one) ? one : {}
      return [String(credential_name), isTree(credential_values) ? credential_values : {}]
    }),
  )
  const entries = entriesOf(file, top.take('model_list'), credentials)
  const providers = [...new Set(entries.map(({ provider }) => provider))]
  for (const { name, order } of entries) weigh(entries.filter((one) => one.name === name && one.order === order))
  identify(file, providers)

  const [router, general, litellm] = ['router_settings', 'general_settings', 'litellm_settings'].map((name) =>
    top.section(name),
  ) as [Section, Section, Section]
  const both = [router, litellm]
  const groups = groupsOf(file, entries, both)
  const failures = firstOf(both, ['allowed_fails'], (of, name) => of.whole(name, 0))
  const restMs = firstOf(both, ['cooldown_time'], (of, name) => of.milliseconds(name))
  const wholeAnswerMs = firstOf(both, ['timeout', 'request_timeout'], (of, name) => of.milliseconds(name))
  const strategy = router.text('routing_strategy')
  if (strategy !== undefined && strategy !== 'simple-shuffle')
    router.note('routing_strategy', 'load is shared by weight; requests with "provider": "auto" go to the cheapest')
  for (const name of ['drop_params', 'set_verbose']) if (litellm.is(name, name === 'drop_params')) litellm.take(name)
  const token = general.text('master_key')
  const isToken = token !== undefined && (/^\S{16,}$/.test(token) || token.startsWith('${'))
  if (token !== undefined)
    general.note(
      'master_key',
      isToken
        ? 'it administers, and calls no models: the first start prints a gateway key'
        : 'admin.token must have at least 16 characters, without spaces',
    )
  const config = without({
    server: without({ port: general.whole('port', 0, 65_535) ?? 4000, host: general.text('host') }),
    store: storeOf(general, router),
    admin: without({ token: isToken ? token : undefined }),
    prices: 'litellm',
    providers: providers.map((provider) => settingsOf(file, provider)),
    routing: without({
      groups,
      retries: firstOf(both, ['num_retries'], (of, name) => of.whole(name, 0, 100)),
      failures: typeof failures === 'number' ? failures + 1 : failures,
      restMs,
    }),
    gateway: without({
      maxInFlight: general.whole('global_max_parallel_requests', 1, 1_000_000),
      wholeAnswerMs,
      firstEventMs: firstOf(both, ['stream_timeout'], (of, name) => of.milliseconds(name)),
    }),
  })
  for (const section of [router, litellm, general, top]) section.end()
  for (const name of file.unnamed())
    file.note(`environment_variables.${name}`, 'set it in the environment of the server')
  return { config: config as ConfigInput, notes: file.notes }
}

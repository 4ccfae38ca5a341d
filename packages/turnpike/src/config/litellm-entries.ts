/** The entries of LiteLLM's `model_list`, and their providers. @module */
import type { Connection } from './litellm-provider.js'
import { connectionOf } from './litellm-provider.js'
import { callsOf, ownOf } from './litellm-models.js'
import type { Litellm } from './litellm-section.js'
import type { Tree } from './tree.js'
import { isTree } from './tree.js'

/** Deployments with the same key and address: a provider of ours. */
export interface Provider {
  /** Another one with this key is for other models, or has other names for them. */
  key: string
  connection: Connection
  entries: Entry[]
  /** What its models are called there. */
  targets: Map<string, string>
  /** What is said of its models. */
  own: Map<string, Tree>
  id: string
}

/** An entry of `model_list`. */
export interface Entry {
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

/** What gives the weights of deployments there: the first that one of them has. */
const LOADS = ['weight', 'rpm', 'tpm'] as const

const isName = (name: string | undefined): name is string => name !== undefined && /^\S+$/.test(name)

/** Whether an entry is for all models of its provider. */
export const isWildcard = ({ model }: { model: string }): boolean => model.endsWith('*')

/** The entries that have a provider here. */
export function entriesOf(file: Litellm, list: unknown, credentials: ReadonlyMap<string, Tree>): Entry[] {
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
    if (base !== undefined && connection.id !== 'azure') info.note('base_model', 'it is read for Azure alone')
    const own = ownOf(params, info, mode)
    Object.assign(connection.settings, callsOf(file, params, connection.settings['type']))
    const isOfAll = isWildcard(connection) && Object.keys(own).length > 0
    if (isOfAll) entry.note('litellm_params.model', 'prices, limits and capabilities are of single models')
    for (const section of [entry, params, info]) section.end()

    const { model, settings, target = model } = connection
    const key = JSON.stringify([connection.id, settings])
    let provider = providers.find((one) => one.key === key && (one.targets.get(model) ?? target) === target)
    if (!provider)
      providers.push((provider = { key, connection, entries: [], targets: new Map(), own: new Map(), id: '' }))
    const before = provider.own.get(model) ?? {}
    const other = Object.keys(own).find(
      (what) => JSON.stringify(before[what] ?? own[what]) !== JSON.stringify(own[what]),
    )
    if (other !== undefined)
      entry.note('model_info', `another entry of this provider says another ${other} of its model`)
    if (!isOfAll) provider.own.set(model, { ...own, ...before })
    const made = {
      name,
      model,
      provider,
      ownId,
      given: load,
      path: entry.path,
      order: typeof order === 'number' ? order : Infinity,
      weight: 1,
    }
    provider.targets.set(model, target)
    provider.entries.push(made)
    return made
  })
}

/** Weighs the entries of one name. */
export function weigh(entries: readonly Entry[]): void {
  const load = LOADS.find((one) => entries.some(({ given }) => typeof given[one] === 'number'))
  if (load) for (const entry of entries) entry.weight = Number(entry.given[load]) || 0
}

/** The names, ids and prices that an entry is served under, without those that are the same for all entries of a provider. */
const servedBy = ({ name, model, order, weight, provider }: Entry): string =>
  JSON.stringify([name, model, order, weight === 0, provider.own.get(model)])

/**
 * Gives the providers their ids. Those of one kind that serve the same entries, each by one weight, share an id: prices and lists of models are by id.
 * The plain id is that of a wildcard or of the vendor, rather than of another server with the API of the vendor.
 */
export function identify(file: Litellm, providers: readonly Provider[]): void {
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

const modelOf = (id: string, own: Tree = {}): string | Tree => (Object.keys(own).length > 0 ? { id, ...own } : id)

/** The settings of a provider. */
export function settingsOf(file: Litellm, { connection, entries, targets, own, id }: Provider): Tree {
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
    ...(!entries.some(isWildcard) && { models: [...targets.keys()].map((model) => modelOf(model, own.get(model))) }),
    ...limits,
  }
}

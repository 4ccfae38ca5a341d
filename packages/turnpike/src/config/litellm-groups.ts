/** The groups of LiteLLM's file: its names, aliases and fallbacks. @module */
import type { Entry } from './litellm-entries.js'
import { isWildcard } from './litellm-entries.js'
import type { Litellm, Section } from './litellm-section.js'
import { listOf } from './litellm-section.js'
import type { Tree } from './tree.js'
import { isTree } from './tree.js'

/** Models between which order does not decide, with their weights. */
type Tier = Map<string, number>

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

/**
 * The models of a group. Weighted ones that follow one another share, so that those of a further tier have their order alone.
 * @param onOrder called where there are such
 */
function membersOf(tiers: readonly Tier[], onOrder: () => void): (string | { model: string; weight: number })[] {
  const seen = new Set<string>()
  let isShared = false
  return tiers.flatMap((tier) => {
    const left = [...tier].filter(([model]) => !seen.has(model))
    for (const [model] of left) seen.add(model)
    const wasShared = isShared
    isShared = !wasShared && left.length > 1
    if (wasShared && left.length > 1) onOrder()
    return left.map(([model, weight]) => (isShared ? { model, weight } : model))
  })
}

const nameOf = ({ path }: Entry): string => `${path}.model_name`

/** The groups of the file: its names, aliases and fallbacks. */
export function groupsOf(file: Litellm, entries: readonly Entry[], settings: readonly Section[]): Tree {
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

  for (const aliases of settings.flatMap((section) =>
    ['model_group_alias', 'model_alias_map'].map((setting) => section.section(setting)),
  )) {
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
      const models = membersOf(own, () =>
        file.note('model_list', `those of ${name} that are asked after the first have an order, and no weights`),
      )
      return [name, options.has(name) ? { models, ...options.get(name) } : models]
    }),
  )
}

import type { Model } from '@turnpike/core'
import { isObject } from '@turnpike/core/helpers'
import { isModelId } from '../models/upstream-models.js'
import type { Deployment } from './deployments.js'

/** The ids of models by their aliases, by the id of the provider. */
export type Aliases = ReadonlyMap<string, ReadonlyMap<string, string>>

/** The aliases of all deployments. @throws TypeError that names what is wrong */
export function aliasesOf(of: string, deployments: readonly Deployment[]): Aliases {
  const all = new Map<string, Map<string, string>>()
  for (const [index, { provider, aliases = {} }] of deployments.entries()) {
    if (!isObject(aliases))
      throw new TypeError(`${of}: providers[${index}]: the option "aliases" must have ids by names`)
    const own = all.get(provider.id) ?? new Map<string, string>()
    for (const [alias, model] of Object.entries(aliases)) {
      const place = `${of}: providers[${index}]: the alias "${alias}"`
      if (!isModelId(alias) || !isModelId(model))
        throw new TypeError(`${place} must be a name, and stand for the id of a model`)
      if ((own.get(alias) ?? model) !== model)
        throw new TypeError(`${place} stands for "${own.get(alias)}" at another provider with the id "${provider.id}"`)
      all.set(provider.id, own.set(alias, model))
    }
  }
  for (const [id, own] of all)
    for (const [alias, model] of own)
      if (own.has(model))
        throw new TypeError(`${of}: the alias "${alias}" of "${id}" stands for "${model}", which is an alias`)
  return all
}

/** Adds aliases to a list of models: each is what its model is, under another name, in place of a model of that name. */
export function withAliases(models: Model[], aliases: Aliases): Model[] {
  if (aliases.size === 0) return models
  const made = [...aliases].flatMap(([provider, own]) =>
    [...own].map(([id, model]): Model => {
      const known = models.find((one) => one.id === model && one.provider === provider)
      const named = known ?? { object: 'model', created: 0, owned_by: provider, provider, capabilities: [] }
      return { ...named, id, members: [`${provider}/${model}`] }
    }),
  )
  return [...models.filter(({ id, provider }) => !aliases.get(provider)?.has(id)), ...made]
}

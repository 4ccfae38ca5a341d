import type { Model, PriceTable, Provider } from '@turnpike/core'
import { undated } from '@turnpike/core/internal'

/**
 * Adds the models that a public table tells of and a provider does not list, where they are of its id and family and do what it is asked for, and
 * what others can do of which that is not known.
 */
export function withTold(
  byId: ReadonlyMap<string, Provider[]>,
  own: Model[],
  told: PriceTable['models'] = {},
): Model[] {
  const known = new Set(own.map(({ provider, id }) => `${provider}/${id}`))
  const added = Object.entries(told).flatMap(([name, { capabilities, created }]): Model[] => {
    const provider = name.slice(0, name.indexOf('/'))
    const id = name.slice(provider.length + 1)
    const [instance] = byId.get(provider) ?? []
    const isOffered =
      instance?.owns?.(id) && !instance.listsAll && capabilities.some((capability) => capability in instance)
    return !isOffered || known.has(name) || known.has(undated(name))
      ? []
      : [{ id, object: 'model', created, owned_by: provider, provider, capabilities }]
  })
  const completed = own.map((model): Model => {
    const facts = model.capabilities.length === 0 && told[`${model.provider}/${model.id}`]
    return facts ? { ...model, created: model.created || facts.created, capabilities: facts.capabilities } : model
  })
  return [...completed, ...added]
}

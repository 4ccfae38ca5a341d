import type { Capability, Model } from '@turnpike/core'
import { CATALOGUE_DATE } from '../family.js'
import type { Catalogue, Place } from './directory.js'

/**
 * A group as a model: of the provider of its first member, and able to do what each member is of which that is known, since any may answer.
 * Undefined without members.
 */
export function groupModel(id: string, places: Place[], known: Catalogue): Model | undefined {
  const [first] = places
  if (!first) return undefined
  const listed = places
    .flatMap(({ provider, model }) => known.listed.get(model)?.get(provider.id) ?? [])
    .filter(({ capabilities }) => capabilities.length > 0)
  const can = (capability: Capability): boolean => listed.every(({ capabilities }) => capabilities.includes(capability))
  return {
    id,
    object: 'model',
    created: Date.parse(CATALOGUE_DATE) / 1000,
    owned_by: 'turnpike',
    provider: first.provider.id,
    capabilities: listed[0]?.capabilities.filter(can) ?? [],
    members: [...new Set(places.map(({ provider, model }) => `${provider.id}/${model}`))],
  }
}

import type { ApiError, Model, Need, Provider } from '@turnpike/core'
import { invalid } from '@turnpike/core/internal'

/** Aliases of provider ids. */
const aliases: Record<string, string> = { gemini: 'google' }

/** Maximum length of a model id in characters: it is in usage records and in a response header. */
const ID_LENGTH = 256

const invalidModel = (message: string): ApiError => invalid(message, { code: 'model_not_found' })

/** The listed models by model id, then by provider id. */
export type Catalogue = ReadonlyMap<string, ReadonlyMap<string, Model>>

/** A provider instance and the model id to request from it. */
export interface Place {
  provider: Provider
  model: string
}

/**
 * Finds the providers that a request names, by its `provider` field, a prefix of its model id, the catalogue, or the families of models.
 * @param byId the instances of each provider by its id
 */
export function directory(byId: ReadonlyMap<string, Provider[]>, groups: ReadonlyMap<string, string[]>) {
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

  /** The provider that a model id names by its prefix. */
  const prefixOf = (asked: string): string | undefined => {
    const slash = asked.indexOf('/')
    return slash > 0 ? idOf(asked.slice(0, slash)) : undefined
  }

  /** A model id whose prefix is the id of its provider, where it is an alias. */
  const spelt = (asked: string): string => {
    const prefix = prefixOf(asked)
    return prefix === undefined ? asked : prefix + asked.slice(asked.indexOf('/'))
  }

  /** The providers that list a model, else those to whose family it belongs. */
  const ownersOf = (known: Catalogue, model: string): string[] => {
    const listing = known.get(model)
    return listing ? [...listing.keys()] : [...byId.keys()].filter((id) => byId.get(id)![0]!.owns?.(model))
  }

  const serving = (known: Catalogue, asked: string, wanted: string | undefined): Place[] => {
    const prefix = prefixOf(asked)
    const rest = prefix === undefined ? asked : asked.slice(asked.indexOf('/') + 1)
    const at = (id: string, model: string): Place[] => instances(id).map((provider) => ({ provider, model }))
    // Some providers list model ids that begin with another provider's name.
    if (wanted !== undefined) return at(wanted, prefix !== wanted && known.get(asked)?.has(wanted) ? asked : rest)
    if (prefix !== undefined) return at(prefix, rest)
    const ids = ownersOf(known, asked)
    return ids.length === 1 ? at(ids[0]!, asked) : ids.flatMap((id) => at(id, asked))
  }

  /** The members of a group, in order of preference. */
  const membersOf = (known: Catalogue, members: string[]): Place[] =>
    members
      .flatMap((id) => serving(known, id, undefined))
      // A group may contain the same model under two names.
      .filter((one, i, all) => i === all.findIndex((o) => o.provider === one.provider && o.model === one.model))

  /** The providers that have the requested model, in order of preference. */
  const placesOf = (known: Catalogue, { task, request }: Need): Place[] => {
    const { model, provider: word } = request
    const wanted = word && word !== 'auto' ? idOf(word) : undefined
    if (word && word !== 'auto' && wanted === undefined) {
      const allowed = [...byId.keys(), 'auto'].map((id) => `"${id}"`).join(', ')
      throw invalid(`Unknown provider; the configured ones are ${allowed}`)
    }
    if (model.length > ID_LENGTH) throw invalidModel(`A model id has at most ${ID_LENGTH} characters`)
    const group = groups.get(model)
    const places = group
      ? membersOf(known, group).filter(({ provider: { id } }) => !wanted || id === wanted)
      : serving(known, model, wanted)
    const isAble = ({ provider, model }: Place): boolean => task in provider && model !== ''
    // Mostly all are: `filter` would allocate more than the rest of this.
    const able = places.every(isAble) ? places : places.filter(isAble)
    if (able.length === 0) throw invalidModel(`No configured provider has the model "${model.slice(0, 100)}"`)
    return able
  }

  return { idOf, prefixOf, spelt, ownersOf, membersOf, placesOf, rotate }
}

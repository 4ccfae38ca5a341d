import type { ApiError, Model, Need, Provider } from '@turnpike/core'
import { invalid } from '@turnpike/core/internal'
import { MODEL_ID_LENGTH } from '../models/upstream-models.js'
import type { Aliases } from './aliases.js'
import type { Lists } from './listings.js'
import type { ModelGroup } from './groups.js'
import type { Rotation } from './rotation.js'

/** Other names of provider ids. */
const providerNames: Record<string, string> = { gemini: 'google' }

const invalidModel = (message: string): ApiError => invalid(message, { code: 'model_not_found' })

/** What is known of the models of all providers. */
export interface Catalogue extends Pick<Lists, 'unlisted'> {
  /** The listed models by model id, then by provider id. */
  listed: ReadonlyMap<string, ReadonlyMap<string, Model>>
}

/** The tag that Ollama and Docker take for granted: `llama3.2` is `llama3.2:latest`. */
const TAG = ':latest'

/** Sorts models by id. Those with the tag {@link TAG} are found without it too. */
export function catalogueOf(models: Model[], unlisted: ReadonlySet<string>): Catalogue {
  const listed = new Map<string, Map<string, Model>>()
  const add = (id: string, model: Model): void => {
    const of = listed.get(id) ?? new Map<string, Model>()
    if (!of.has(model.provider)) listed.set(id, of.set(model.provider, model))
  }
  for (const model of models) add(model.id, model)
  for (const model of models) if (model.id.endsWith(TAG)) add(model.id.slice(0, -TAG.length), model)
  return { listed, unlisted }
}

/** A provider instance and the model id to request from it. */
export interface Place {
  provider: Provider
  model: string
  /** The alias of the model that was asked for. */
  alias?: string
  /** The member of a group that it is, where members share calls by weight. */
  member?: { id: string; rotation: Rotation<string> }
}

/**
 * Finds the providers that a request names, by its `provider` field, a prefix of its model id, the catalogue, or the families of models.
 * @param byId the instances of each provider by its id
 * @param rotations of the providers with several instances
 */
export function directory(
  byId: ReadonlyMap<string, Provider[]>,
  rotations: ReadonlyMap<string, Rotation<Provider>>,
  groups: ReadonlyMap<string, ModelGroup>,
  aliases: Aliases,
) {
  const idOf = (word: string): string | undefined =>
    byId.has(word) ? word : byId.has(providerNames[word] ?? '') ? providerNames[word] : undefined

  /** The instances of a provider, the one whose turn it is first. */
  const instances = (id: string, session?: string): Provider[] => rotations.get(id)?.order(session) ?? byId.get(id)!

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

  const ids = [...byId.keys()]
  /** Those that may have models which they do not list. */
  const vendors = ids.filter((id) => !byId.get(id)![0]!.listsAll)

  /** Whether a model belongs to the family of a provider. */
  const owns = (id: string, model: string): boolean => byId.get(id)![0]!.owns?.(model) === true

  /** The providers that list a model, else those to whose family it belongs, else those whose lists are not known. */
  const ownersOf = ({ listed, unlisted }: Catalogue, model: string): string[] => {
    const listing = listed.get(model)
    // Lists have aliases and what tables tell at their end.
    if (listing) return listing.size === 1 ? [...listing.keys()] : ids.filter((id) => listing.has(id))
    const isOwn = (id: string): boolean => owns(id, model)
    // The vendor has models that its catalogue does not list yet; what others have, they list.
    const ofVendors = vendors.filter(isOwn)
    if (ofVendors.length > 0) return ofVendors
    const family = ids.filter(isOwn)
    return family.length > 0 ? family : ids.filter((id) => unlisted.has(id))
  }

  const at = (id: string, asked: string, session?: string): Place[] => {
    const model = aliases.get(id)?.get(asked)
    return instances(id, session).map((provider): Place =>
      model === undefined ? { provider, model: asked } : { provider, model, alias: asked },
    )
  }

  /** The providers of a model id, with the ids that they are sent. */
  const serving = (known: Catalogue, asked: string, wanted?: string, session?: string): Place[] => {
    const prefix = prefixOf(asked)
    const rest = prefix === undefined ? asked : asked.slice(asked.indexOf('/') + 1)
    // Some providers list model ids that begin with their own or with another provider's name.
    const listing = known.listed.get(asked)
    if (wanted !== undefined) return at(wanted, listing?.has(wanted) ? asked : rest, session)
    if (prefix !== undefined) {
      const isOwn = listing?.has(prefix)
      // Where only others list such an id, it is not theirs if the named provider has the model, or may have it.
      const hasRest = known.listed.get(rest)?.has(prefix) || owns(prefix, rest)
      if (!listing || (!isOwn && hasRest)) return at(prefix, rest, session)
    }
    const owners = ownersOf(known, asked)
    return owners.length === 1 ? at(owners[0]!, asked, session) : owners.flatMap((id) => at(id, asked, session))
  }

  /** The providers of a model that a request names: where nobody is known to have it, the only provider there is. */
  const servingAny = (known: Catalogue, asked: string, wanted?: string, session?: string): Place[] => {
    const places = serving(known, asked, wanted, session)
    return places.length === 0 && ids.length === 1 ? at(ids[0]!, asked, session) : places
  }

  /** The members of a group, in the configured order. */
  const membersOf = (known: Catalogue, { tiers }: ModelGroup): Place[] =>
    distinct(tiers.flatMap(({ models }) => models.flatMap((id) => serving(known, id))))

  /** The members of a group, in order of preference. */
  const membersInTurn = (known: Catalogue, { tiers }: ModelGroup, session?: string): Place[] =>
    distinct(
      tiers.flatMap(({ models, rotation }) =>
        rotation
          ? rotation
              .order(session)
              .flatMap((id) =>
                serving(known, id, undefined, session).map((place): Place => ({ ...place, member: { id, rotation } })),
              )
          : models.flatMap((id) => serving(known, id, undefined, session)),
      ),
    )

  const distinct = (places: Place[]): Place[] =>
    places
      // A group may contain the same model under two names.
      .filter((one, i, all) => i === all.findIndex((o) => o.provider === one.provider && o.model === one.model))

  /** The provider that a request names. @throws ApiError 400 for an unknown one */
  const wantedBy = ({ provider: word }: Need['request']): string | undefined => {
    const wanted = word && word !== 'auto' ? idOf(word) : undefined
    if (word && word !== 'auto' && wanted === undefined) {
      const allowed = [...ids, 'auto'].map((id) => `"${id}"`).join(', ')
      throw invalid(`Unknown provider; the configured ones are ${allowed}`)
    }
    return wanted
  }

  const isAble = ({ provider, model }: Place, task: Need['task']): boolean => task in provider && model !== ''

  /** The providers that have the requested model, in order of preference. @param session what is served by the same one as before; absent = in turn */
  const placesOf = (known: Catalogue, { task, request }: Need, session?: string): Place[] => {
    const { model } = request
    const wanted = wantedBy(request)
    if (model.length > MODEL_ID_LENGTH) throw invalidModel(`A model id has at most ${MODEL_ID_LENGTH} characters`)
    const group = groups.get(model)
    const places = group
      ? membersInTurn(known, group, session).filter(({ provider: { id } }) => !wanted || id === wanted)
      : servingAny(known, model, wanted, session)
    // Mostly all are: `filter` would allocate more than the rest of this.
    const able = places.every((place) => isAble(place, task)) ? places : places.filter((place) => isAble(place, task))
    if (able.length === 0) throw invalidModel(`No configured provider has the model "${model.slice(0, 100)}"`)
    return able
  }

  /** The providers of a model that is called where a member of a group refuses a request. */
  const fallbackPlaces = (known: Catalogue, { task, request }: Need, model: string, session?: string): Place[] => {
    const wanted = wantedBy(request)
    return serving(known, model, undefined, session).filter(
      (place) => isAble(place, task) && (wanted === undefined || place.provider.id === wanted),
    )
  }

  /** The models that an alias stands for, as `provider/id`. */
  const aliased = (asked: string): string[] => {
    const prefix = prefixOf(asked)
    const name = prefix === undefined ? asked : asked.slice(asked.indexOf('/') + 1)
    return [...aliases].flatMap(([id, own]) => {
      const model = own.get(asked) ?? (id === prefix ? own.get(name) : undefined)
      return model === undefined ? [] : `${id}/${model}`
    })
  }

  /** What the name of each group stands for. */
  const ofGroups = new Map(
    Array.from(groups, ([name, { tiers, fallbacks }]) => {
      const named = [...tiers.flatMap(({ models }) => models), ...fallbacks.map(([, model]) => model)]
      return [name, named.flatMap((model) => [spelt(model), ...aliased(model)])]
    }),
  )

  /** What the name of a group or an alias stands for: see {@link Router.members}. */
  const membersNamed = (name: string): string[] | undefined => {
    const members = ofGroups.get(name) ?? aliased(name)
    return members.length > 0 ? members : undefined
  }

  return { idOf, membersNamed, serving, membersOf, placesOf, fallbackPlaces }
}

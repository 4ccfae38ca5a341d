import type { Target } from '@turnpike/core'
import type { OptionNames } from '@turnpike/core/helpers'
import { checkOptions, isObject } from '@turnpike/core/helpers'
import type { AttemptOptions } from './attempt.js'
import { checkPositive } from './deployments.js'
import { Rotation } from './rotation.js'

/** A model of a group, with its part of the load. */
export interface GroupMember {
  /** Its id, with or without a provider's prefix. */
  model: string
  /** Its part of the calls among the members with a weight that stand beside it, by their sum; above 0. */
  weight: number
}

/** A group of models with options of its own; those that it does not set are the router's. */
export interface Group extends AttemptOptions {
  /** In order of preference. Members with a weight that follow one another share the calls by it. */
  models: (string | GroupMember)[]
  /** The model to try once where the prompt is longer than the context of a member; default none: the next member. */
  contextFallback?: string
  /** The model to try once where the content filter of a member refused the request, or left nothing of a chat answer, which is charged too; default none. */
  contentFallback?: string
}

const groupNames: OptionNames<Group> = {
  models: true,
  contextFallback: false,
  contentFallback: false,
  retries: false,
  maxWaitMs: false,
  failoverStatuses: false,
}
const memberNames: OptionNames<GroupMember> = { model: true, weight: true }

/** Members of a group between which their order does not decide. */
export interface Tier {
  /** In the configured order. */
  models: string[]
  /** Whose turn it is; absent where there is one. */
  rotation?: Rotation<string>
}

/** A group as the router uses it. */
export interface ModelGroup {
  /** In order of preference. */
  tiers: Tier[]
  /** The models to try once, by what a member refused. */
  fallbacks: [of: NonNullable<Target['fallback']>, model: string][]
  attempt: AttemptOptions
}

/** @throws TypeError that names what is wrong */
function tiersOf(of: string, models: Group['models']): Tier[] {
  if (!Array.isArray(models)) throw new TypeError(`${of}: the option "models" is no list`)
  const tiers: Tier[] = []
  let sharing: Map<string, number> | undefined
  for (const [index, one] of models.entries()) {
    if (typeof one === 'string') {
      sharing = undefined
      tiers.push({ models: [one] })
      continue
    }
    const place = `${of}: models[${index}]`
    checkOptions(place, one, memberNames)
    checkPositive(place, 'weight', one.weight)
    if (sharing?.has(one.model)) throw new TypeError(`${place}: "${one.model}" stands there twice`)
    if (!sharing) tiers.push({ models: [], rotation: new Rotation(`${of}[${index}]`, (sharing = new Map())) })
    sharing.set(one.model, one.weight)
    tiers.at(-1)!.models.push(one.model)
  }
  return tiers
}

/** The groups of a router by name. @throws TypeError that names what is wrong */
export function groupsOf(
  of: string,
  given: Record<string, (string | GroupMember)[] | Group> = {},
  defaults: AttemptOptions,
): Map<string, ModelGroup> {
  return new Map(
    Object.entries(given).map(([name, one]) => {
      const place = `${of}: groups.${name}`
      if (!Array.isArray(one) && !isObject(one))
        throw new TypeError(`${place}: expected a list of models, or an object of options`)
      const group = Array.isArray(one) ? { models: one } : one
      checkOptions(place, group, groupNames)
      const { models, contextFallback, contentFallback, ...attempt } = group
      const fallbacks: ModelGroup['fallbacks'] = []
      if (contextFallback !== undefined) fallbacks.push(['length', contextFallback])
      if (contentFallback !== undefined) fallbacks.push(['content', contentFallback])
      return [name, { tiers: tiersOf(place, models), fallbacks, attempt: { ...defaults, ...attempt } }]
    }),
  )
}

import type { Need, Provider, RecentChoice, Signal, Target } from '@turnpike/core'
import { ApiError, UpstreamError } from '@turnpike/core'
import type { AttemptOptions } from './attempt.js'
import { attempt } from './attempt.js'
import type { Choices } from './choices.js'
import type { Place } from './directory.js'
import type { Health } from './health.js'
import type { Quotas } from './quotas.js'
import type { Rotation } from './rotation.js'

/** What is to be done for a request beyond calling its target. */
interface Plan {
  need: Need
  /** Those of the group that was asked for, or of the router. */
  options: AttemptOptions
  /** Absent if there was one candidate. */
  choice?: RecentChoice | undefined
  /** Whether the targets are in the order of a session, and take no turns. */
  isStuck: boolean
}

/** The first of those for whom a number is least. */
const least = (targets: Target[], of: (target: Target) => number): Target =>
  targets.reduce((best, one) => (of(one) < of(best) ? one : best))

/** The tokens that a failed call used; undefined if that is not known. */
export const tokensOfFailure = (error: unknown): number | undefined =>
  UpstreamError.is(error) ? (error.failure.usage?.total_tokens ?? (error.failure.accepted ? undefined : 0)) : undefined

/** Whether a call failed because its provider itself refused the request, which is not sent then. */
const isUnsent = (error: unknown, isAborted: boolean): boolean =>
  ApiError.is(error) && !UpstreamError.is(error) && !isAborted

/** What a router does at the calls of a request that has several targets, or whose target has limits: it shares, counts and remembers them. */
export class Plans {
  readonly #plans = new WeakMap<Target, Plan>()
  readonly #members = new WeakMap<Target, NonNullable<Place['member']>>()
  readonly #rotations: ReadonlyMap<string, Rotation<Provider>>
  readonly #health: Health
  readonly #quotas: Quotas
  readonly #choices: Choices

  /** @param rotations of the providers with several instances, by id */
  constructor(rotations: ReadonlyMap<string, Rotation<Provider>>, health: Health, quotas: Quotas, choices: Choices) {
    this.#rotations = rotations
    this.#health = health
    this.#quotas = quotas
    this.#choices = choices
  }

  /** Makes the plan of all targets of a request. */
  make(targets: Target[], plan: Plan): void {
    for (const target of targets) this.#plans.set(target, plan)
  }

  /** Notes that the calls of a target are those of a group's member. */
  join(target: Target, member: Place['member']): void {
    if (member) this.#members.set(target, member)
  }

  of(target: Target): Plan | undefined {
    return this.#plans.get(target)
  }

  /** Counts a call as part of the load. @param isNext whether the target was chosen, and is not called in place of one that failed */
  #charge(target: Target, isNext: boolean): void {
    this.#rotations.get(target.provider.id)?.charge(target.provider, isNext)
    const member = this.#members.get(target)
    member?.rotation.charge(member.id, isNext)
  }

  /** Takes a call out of the load that was not sent. */
  #giveBack(target: Target): void {
    this.#rotations.get(target.provider.id)?.giveBack(target.provider)
    const member = this.#members.get(target)
    member?.rotation.giveBack(member.id)
  }

  /**
   * The targets, with the one in front whose turn it is now, in place of the first: others may have been called since they were ordered. Turns are
   * taken by calls, as a request that is refused before its call must not move them.
   */
  #inTurn(targets: Target[], byPrice: boolean): Target[] {
    const [first] = targets as [Target]
    if (this.#health.rest(first)) return targets
    const ready = targets.filter((one) => one.fallback === first.fallback && !this.#health.rest(one))
    let next = first
    const members = byPrice ? undefined : this.#members.get(first)?.rotation
    if (members) {
      const sharing = ready.filter((one) => this.#members.get(one)?.rotation === members)
      next = least(sharing, (one) => members.start(this.#members.get(one)!.id))
    }
    const { provider, model } = next
    const instances = this.#rotations.get(provider.id)
    if (instances) {
      const same = ready.filter((one) => one.provider.id === provider.id && one.model === model)
      next = least(same, (one) => instances.start(one.provider))
    }
    return next === first ? targets : [next, ...targets.filter((one) => one !== next)]
  }

  /** As {@link attempt}, by a plan. */
  async attempt<T>(plan: Plan, targets: Target[], signal: Signal, run: (target: Target) => Promise<T>) {
    const { need, choice } = plan
    const quotas = this.#quotas
    if (choice) this.#choices.narrow(choice, targets)
    const ordered = plan.isStuck ? targets : this.#inTurn(targets, choice?.by === 'price')
    let isNext = true
    const call = async (target: Target): Promise<T> => {
      if (choice) choice.attempts++
      this.#charge(target, isNext)
      isNext = false
      try {
        return await run(target)
      } catch (error) {
        if (isUnsent(error, signal.aborted)) {
          this.#giveBack(target)
          quotas.settle(target, 0, false)
        } else quotas.settle(target, tokensOfFailure(error))
        throw error
      }
    }
    const admit = quotas.isUsed ? (target: Target) => quotas.take(target, need) : undefined
    const done = await attempt(ordered, signal, call, this.#health, plan.options, admit)
    if (choice) choice.served = { provider: done.target.provider.id, model: done.target.model }
    return done
  }
}

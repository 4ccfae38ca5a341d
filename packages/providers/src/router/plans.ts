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
  /** The target whose call has been charged to its part of the load: the first one, until it is called. */
  charged: Target
}

/** The tokens that a failed call used; undefined if that is not known. */
export function tokensOfFailure(error: unknown, isAborted: boolean): number | undefined {
  if (UpstreamError.is(error)) return error.failure.usage?.total_tokens ?? (error.failure.accepted ? undefined : 0)
  // What a provider itself refuses is not sent.
  return ApiError.is(error) && !isAborted ? 0 : undefined
}

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

  /** Makes the plan of all targets of a request. The first call is charged now, so that the next request is chosen by it. */
  make(targets: Target[], plan: Omit<Plan, 'charged'>): void {
    const [first] = targets as [Target]
    const made = { ...plan, charged: first }
    for (const target of targets) this.#plans.set(target, made)
    this.#charge(first, true)
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

  /** As {@link attempt}, by a plan. */
  async attempt<T>(plan: Plan, targets: Target[], signal: Signal, run: (target: Target) => Promise<T>) {
    const { need, choice } = plan
    const quotas = this.#quotas
    if (choice) this.#choices.narrow(choice, targets)
    let charged: Target | undefined = plan.charged
    const call = async (target: Target): Promise<T> => {
      if (choice) choice.attempts++
      if (charged === target) charged = undefined
      else this.#charge(target, false)
      try {
        return await run(target)
      } catch (error) {
        quotas.settle(target, tokensOfFailure(error, signal.aborted))
        throw error
      }
    }
    const admit = quotas.isUsed ? (target: Target) => quotas.take(target, need) : undefined
    const done = await attempt(targets, signal, call, this.#health, plan.options, admit)
    if (choice) choice.served = { provider: done.target.provider.id, model: done.target.model }
    return done
  }
}

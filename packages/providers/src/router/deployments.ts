import type { CallOptions, Provider } from '@turnpike/core'
import type { OptionNames } from '@turnpike/core/helpers'
import { checkOptions, isObject } from '@turnpike/core/helpers'

/** A provider, its part of the load, and what holds for its calls before what holds for all. */
export interface Deployment extends CallOptions {
  provider: Provider
  /**
   * Further names of its models, by the name that callers use; also those of the other providers with its id. A name goes before a model of the same
   * name. Prices, limits, keys and usage records go by the id of the model.
   * @example { fast: 'gpt-4o-mini', 'claude-sonnet-4-5': 'us.anthropic.claude-sonnet-4-5-20250929-v1:0' }
   */
  aliases?: Readonly<Record<string, string>>
  /** Its part of the calls among the providers with the same id, by their sum; above 0. Default 1. */
  weight?: number
  /** The most calls in a minute of the clock (UTC); default any number. */
  requestsPerMinute?: number
  /**
   * The most tokens in a minute of the clock, of prompts and answers: those that are expected of a call are counted before it, and corrected to those
   * that it used once it has ended. Default any number.
   */
  tokensPerMinute?: number
}

const names: OptionNames<Deployment> = {
  provider: true,
  weight: false,
  requestsPerMinute: false,
  tokensPerMinute: false,
  aliases: false,
  retries: false,
  firstEventMs: false,
  betweenEventsMs: false,
  wholeAnswerMs: false,
}

const positive = [
  'weight',
  'requestsPerMinute',
  'tokensPerMinute',
  'firstEventMs',
  'betweenEventsMs',
  'wholeAnswerMs',
] as const

/** @throws TypeError where a value is no number above zero */
export function checkPositive(of: string, name: string, value: number | undefined): void {
  if (value !== undefined && !(Number.isFinite(value) && value > 0))
    throw new TypeError(`${of}: the option "${name}" is a number above 0, and not ${String(value)}`)
}

/** The deployments of a router, each with its provider. @throws TypeError that names what is wrong */
export function deploymentsOf(of: string, given: (Provider | Deployment)[]): Deployment[] {
  if (!Array.isArray(given) || given.length === 0) throw new TypeError(`${of}: the option "providers" is an empty list`)
  return given.map((one, index) => {
    const place = `${of}: providers[${index}]`
    if (!isObject(one) || ('provider' in one && !isObject(one.provider)))
      throw new TypeError(`${of}: the option "providers" has something that is no provider`)
    const deployment = 'provider' in one ? (one as Deployment) : { provider: one as Provider }
    checkOptions(place, deployment, names)
    for (const name of positive) checkPositive(place, name, deployment[name])
    const { retries = 0 } = deployment
    if (!Number.isSafeInteger(retries) || retries < 0)
      throw new TypeError(`${place}: the option "retries" is a number of times, and not ${String(retries)}`)
    const { id } = deployment.provider
    // The id is used as a prefix of model ids, as a value of `provider` beside `auto`, and in headers.
    if (!/^[\w.-]+$/.test(id) || id === 'auto') throw new TypeError(`"${id}" cannot be the id of a provider`)
    return deployment
  })
}

/** What holds for the calls of a deployment; undefined where nothing does. */
export function callOptionsOf({
  retries,
  firstEventMs,
  betweenEventsMs,
  wholeAnswerMs,
}: Deployment): CallOptions | undefined {
  const own = Object.entries({ retries, firstEventMs, betweenEventsMs, wholeAnswerMs }).filter(
    ([, value]) => value !== undefined,
  )
  return own.length > 0 ? Object.fromEntries(own) : undefined
}

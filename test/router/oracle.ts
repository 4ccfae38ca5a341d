import type { Price } from '@turnpike/core'
import { expect } from 'vitest'
import type { Outcome, Place, Row, Step, World } from './world.js'

/** What tokens cost, in nano-dollars: in hundredths of them first, because rates have five digits behind the point. */
export function costOf(price: Price, input: number, output: number): number {
  const [high, low] = [price.tiers?.[1], price.tiers?.[0]]
  const rates = high && input > high.above ? high : low && input > low.above ? low : price
  const digits = (rate: number): bigint => BigInt(Math.round(rate * 1e5))
  const hundredths = BigInt(input) * digits(rates.input!) + BigInt(output) * digits(rates.output!)
  return Number((hundredths + 50n) / 100n)
}

/** Whether surely nothing was accepted by who failed so. */
const surelyNot = ({ kind, status, accepted, credential }: NonNullable<Outcome['failure']>): boolean =>
  !accepted && (kind === 'unavailable' || credential === true || [429, 503, 529].includes(status!))

/** The status that a caller sees of a failure. */
export const statusOf = ({ status, caller }: NonNullable<Outcome['failure']>): number =>
  status === 429 ? 429 : caller ? 400 : 502

interface Breaker {
  inARow: number
  answeredAt: number
  restsUntil: number | undefined
  trying: { request: Request; until: number } | undefined
  limitedUntil: number
}

interface Request {
  /** Whom it should ask, best first, of whom it has not asked in this round. */
  left: number[]
  /** Who was busy in this round. */
  busy: number[]
  round: number
  notBefore: number
  calls: number
  able: number
  over: boolean
  /** Who was asked although it rested: what it answers ends that. */
  despite: Set<number>
  /** Who served it, with what. */
  served: { place: number; usage: NonNullable<Outcome['usage']> } | undefined
  /** Of what its caller is told where nobody did. */
  failure: Outcome['failure']
  /** The prices in force when it was let in. */
  prices: Row[]
}

/** How often that happened of which a simulation is made. */
export const tally = { fallbacks: 0, opened: 0, tries: 0, recovered: 0, rested: 0, allRested: 0, neutral: 0 }

/** What has to become of each request, by rules written down apart from the router's. */
export function createOracle({ places, retries, maxWaitMs }: World) {
  const breakers = places.map((): Breaker => ({
    inARow: 0,
    answeredAt: -Infinity,
    restsUntil: undefined,
    trying: undefined,
    limitedUntil: 0,
  }))
  const requests = new Map<string, Request>()
  const mayBeTried = (i: number, now: number): boolean => {
    const { restsUntil, trying } = breakers[i]!
    return restsUntil === undefined || (now >= restsUntil && now >= (trying?.until ?? 0))
  }

  /** Until when a provider gets no calls; -1 where it may be called. */
  const rest = (i: number, now: number): number => {
    const { restsUntil, limitedUntil } = breakers[i]!
    return mayBeTried(i, now) ? (limitedUntil > now ? limitedUntil : -1) : restsUntil!
  }

  /** Tokens of what the model reads. */
  const promptOf = ({ fields: { messages, response_format: format } }: Step): number =>
    Math.ceil((messages[0]!.content.length + (format ? JSON.stringify(format).length : 0)) / 4)
  const can = ({ context, maxOutput, abilities, refusesSeed }: Place, step: Step): boolean => {
    const { fields, needs } = step
    const output = fields.max_tokens ?? 1_024
    if (promptOf(step) + output > context || output > maxOutput) return false
    return needs.every((one) => abilities.includes(one)) && !(refusesSeed && fields.seed !== undefined)
  }
  const expected = (price: Row, step: Step): number => {
    const { max_tokens = 1_024, n = 1 } = step.fields
    return price ? costOf(price, promptOf(step), max_tokens * n) : Infinity
  }

  return {
    breakers,
    requests,
    /** A request is let in; from here on its prices stay. */
    admit(id: string, step: Step, prices: Row[], now: number): void {
      const auto = step.provider === 'auto'
      const all = places.map((place, i) => ({
        i,
        able: !auto || can(place, step),
        rest: rest(i, now),
        cost: auto ? expected(prices[i], step) : 0,
      }))
      const able = all.filter((one) => one.able)
      const left = able
        .toSorted((a, b) => a.rest - b.rest || (a.cost === b.cost ? 0 : a.cost - b.cost) || a.i - b.i)
        .map(({ i }) => i)
      requests.set(id, {
        left,
        busy: [],
        round: 0,
        notBefore: now,
        calls: 0,
        able: left.length,
        over: left.length === 0,
        despite: new Set(),
        served: undefined,
        failure: undefined,
        prices,
      })
    },
    /** A provider is asked. */
    began(id: string, place: number, now: number): void {
      const request = requests.get(id)!
      expect(request.over, 'nobody is asked after the end').toBe(false)
      if (request.left.length === 0) {
        request.round++
        request.left = request.busy
        request.busy = []
        expect(now, 'a wait is as long as was wanted').toBeGreaterThanOrEqual(request.notBefore)
      }
      const rests = request.left.map((i) => rest(i, now))
      const right = request.left[rests.indexOf(Math.min(...rests))]
      expect(place, 'the right one is asked').toBe(right)
      if (!rests.includes(-1)) {
        expect(request.calls === 0 || request.round > 0, 'one is asked where all rest').toBe(true)
        tally.allRested++
      }
      if (rest(place, now) >= 0) request.despite.add(place)
      request.left = request.left.filter((i) => i !== place)
      request.calls++
      expect(request.calls).toBeLessThanOrEqual(request.able * (1 + retries))
      const breaker = breakers[place]!
      if (request.calls > 1) tally.fallbacks++
      if (breaker.restsUntil === undefined || !mayBeTried(place, now)) return
      breaker.trying = { request, until: now + 30_000 }
      tally.tries++
    },
    /** A provider has answered or failed. */
    ended(id: string, place: number, { usage, failure }: Outcome, now: number): void {
      const request = requests.get(id)!
      const breaker = breakers[place]!
      const isTry = breaker.trying?.request === request
      if (isTry) breaker.trying = undefined
      if (usage) request.served = { place, usage }
      if (!failure && request.despite.has(place)) breaker.limitedUntil = 0
      if (!failure && breaker.restsUntil !== undefined) tally.recovered++
      const { status = 500 } = failure ?? {}
      const late =
        failure &&
        (status < 500 || [504, 524].includes(status) || ['timeout', 'truncated', 'malformed'].includes(failure.kind))
      // For how long the last answer to somebody else speaks for the provider.
      // A 500, or a connection that breaks once the request was sent.
      const ofInput = failure?.status === 500 || (failure?.kind === 'unavailable' && failure.accepted)
      const doubtful = late ? 30_000 : ofInput ? 5_000 : 0
      if (failure?.caller) tally.neutral++
      else if (!failure) Object.assign(breaker, { inARow: 0, restsUntil: undefined, answeredAt: now })
      else if (failure.status === 429) {
        if (breaker.limitedUntil <= now) breaker.limitedUntil = now + (failure.retryAfter ?? 30) * 1_000
      } else if (now - breaker.answeredAt < doubtful || (breaker.restsUntil !== undefined && !isTry)) tally.neutral++
      else {
        if (++breaker.inARow >= 5) {
          if (breaker.restsUntil === undefined) tally.opened++
          breaker.restsUntil = now + 30_000
        }
      }

      if (!failure || !surelyNot(failure)) {
        request.over = true
        request.failure = failure
        return
      }
      request.failure ??= failure
      const wait = (failure.retryAfter ?? 0) * 1_000
      if (!failure.credential && wait <= maxWaitMs) {
        request.busy.push(place)
        request.notBefore = Math.max(request.notBefore, now + wait)
      }
      if (request.round === 0 && request.left.length > 0 && request.left.every((i) => rest(i, now) >= 0)) {
        request.left = []
        tally.rested++
      }
      request.over = request.left.length === 0 && (request.busy.length === 0 || request.round === retries)
    },
  }
}

import type { Learnt } from '@turnpike/core'
import type { UpstreamRequest } from '../adapter.js'
import type { Loss } from './refused-parameters.js'
import { lossesBy, otherLimit, UNKNOWN_SCHEMAS } from './refused-parameters.js'

/** For how long a refusal is remembered: a day. Then the upstream is asked again. */
const REMEMBERED_MS = 24 * 60 * 60 * 1000
/** Models of which refusals are remembered, and refusals of each. The oldest are forgotten: ids are chosen by callers. */
const MODELS = 500
const PER_MODEL = 30
/** Longest id of a model that is remembered. */
const MODEL_LENGTH = 200

/** A request as it is sent. Its body is text: objects of the same JSON take many times as much, for as long as the upstream takes. */
export interface Written extends Omit<UpstreamRequest, 'body'> {
  body: string
}

/** What is sent in place of a request that was refused. */
export interface Retry {
  request: Written
  /** Called where it was accepted: only what helped is learnt. */
  learn(): void
}

/** A request that may be sent once more. */
export interface Repeatable extends Written {
  /** What to send in place of it; undefined where what is refused cannot be left out. @param answer the body of a 400 or 422 */
  again(answer: string): Retry | undefined
}

const nothing: readonly Loss[] = []

/** What is learnt of a model: what is left out of requests that have all that the refused one had besides, and until when. */
interface Known {
  loss: Loss
  beside: readonly string[]
  until: number
}

/** Fields that every request may have. */
const COMMON = new Set(['model', 'messages', 'input', 'stream', 'n'])
/** Longest value that tells requests apart. */
const VALUE_LENGTH = 40

/** What a request has, by which others are like it: its fields, with values that are short texts or switches. */
const traitsOf = (request: object): string[] =>
  Object.entries(request).flatMap(([name, value]: [string, unknown]) => {
    if (value == null || COMMON.has(name)) return []
    const isShort = typeof value === 'boolean' || (typeof value === 'string' && value.length <= VALUE_LENGTH)
    return isShort ? `${name}=${value}` : name
  })

const fieldOf = (text: string): string => text.split('=', 1)[0]!

const written = ({ path, body, notes, maxOutput, headers }: UpstreamRequest): Written => ({
  path,
  body: JSON.stringify(body),
  notes,
  maxOutput,
  headers,
})

/** What a provider's upstream refuses, by model: learnt from its refusals, in memory (docs/decisions/044). */
export class Refusals {
  /** By model. The oldest are first. */
  readonly #learnt = new Map<string, Known[]>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** What is known of a model. */
  #of(model: string): Known[] {
    const known = this.#learnt.get(model)
    if (!known) return []
    const now = this.#now()
    const current = known.filter(({ until }) => until > now)
    if (current.length === 0) this.#learnt.delete(model)
    else this.#learnt.set(model, current)
    return current
  }

  /** What is left out of a request. */
  of(request: { model: string }): readonly Loss[] {
    const known = this.#of(request.model)
    if (known.length === 0) return nothing
    const traits = new Set(traitsOf(request))
    return [...new Set(known.flatMap(({ loss, beside }) => (beside.every((one) => traits.has(one)) ? loss : [])))]
  }

  /**
   * The request to an upstream without what it is known to refuse.
   * @param make translates the request without some losses
   */
  outgoing(request: { model: string }, make: (losses: readonly Loss[]) => UpstreamRequest): Repeatable {
    const known = this.of(request)
    const { path, body, notes, maxOutput, headers } = written(make(known))
    return {
      path,
      body,
      notes,
      maxOutput,
      headers,
      again: (answer) => {
        const found = lossesBy(answer, request)?.filter((loss) => !known.includes(loss))
        if (!found?.length) return undefined
        const next = written(make([...known.filter((loss) => !found.includes(otherLimit[loss] ?? '')), ...found]))
        // The same once more would only be refused once more.
        if (next.body === body) return undefined
        return { request: next, learn: () => this.#learn(request, found, known) }
      },
    }
  }

  /** @param known what was not in the request that was refused */
  #learn(request: { model: string }, found: readonly Loss[], known: readonly Loss[]): void {
    const { model } = request
    if (model.length > MODEL_LENGTH) return
    const left = new Set(known.map(fieldOf))
    const sent = traitsOf(request).filter((trait) => !left.has(fieldOf(trait)))
    let learnt = this.#of(model)
    for (const loss of found) {
      if (loss === UNKNOWN_SCHEMAS) continue
      const own = fieldOf(loss)
      // Schemas are in these.
      const isOwn = (trait: string): boolean =>
        own === fieldOf(trait) || (own === 'schemas' && /^(response_format|tools)$/.test(fieldOf(trait)))
      const beside = sent.filter((trait) => !isOwn(trait))
      // What is refused with less besides is also refused with more.
      const isOlder = (one: Known): boolean =>
        one.loss === otherLimit[loss] || (one.loss === loss && beside.every((trait) => one.beside.includes(trait)))
      learnt = [...learnt.filter((one) => !isOlder(one)), { loss, beside, until: this.#now() + REMEMBERED_MS }]
    }
    this.#learnt.delete(model)
    if (learnt.length > 0) this.#learnt.set(model, learnt.slice(-PER_MODEL))
    for (const oldest of this.#learnt.keys()) if (this.#learnt.size > MODELS) this.#learnt.delete(oldest)
  }

  /** All that is remembered, for operators. */
  list(): Learnt[] {
    return [...this.#learnt.keys()].flatMap((model) => {
      const untils = new Map(this.#of(model).map(({ loss, until }) => [loss, until]))
      return [...untils].map(([field, until]) => ({ model, field, until: new Date(until).toISOString() }))
    })
  }
}

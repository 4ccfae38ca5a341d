import type { Learnt } from '@turnpike/core'
import type { UpstreamRequest } from '../adapter.js'
import type { Loss } from './refused-parameters.js'
import { documented } from './parameter-names.js'
import { lossesBy, otherLimit, UNKNOWN_SCHEMAS } from './refused-parameters.js'

/** For how long a refusal is remembered: a day. Then the upstream is asked again. */
const REMEMBERED_MS = 24 * 60 * 60 * 1000
/** Models of which refusals are remembered, and refusals of each. The oldest are forgotten: ids are chosen by callers. */
const MODELS = 500
const PER_MODEL = 30
/** Longest id of a model that is remembered. */
const MODEL_LENGTH = 200
/** Most traits of a request by which something is remembered, and the longest of them: a caller may send any number of fields. */
const TRAITS = 40
const TRAIT_LENGTH = 60

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

/** What is learnt of a model: what is left out of requests that are like those that were refused, and until when. */
interface Known {
  loss: Loss
  /** What a request has at least, and at most, besides the loss: one that was refused had no more than that, and one no less. */
  least: readonly string[]
  most: readonly string[]
  until: number
}

/** Fields that say nothing of what a model takes. */
const COMMON = new Set(
  (
    'model input user metadata safety_identifier prompt_cache_key prompt_cache_retention ' +
    'max_tokens max_completion_tokens stop stream_options'
  ).split(' '),
)

/** The types of what messages have besides text, such as pictures. */
function mediaIn(messages: unknown): string[] {
  const types = new Set<string>()
  for (const { content } of Array.isArray(messages) ? (messages as { content?: unknown }[]) : [])
    if (Array.isArray(content)) for (const { type } of content as { type: string }[]) types.add(type)
  types.delete('text')
  return [...types]
}

/** What a request has, by which others are like it: its fields, with their values where these are switches, or a few texts, and its media. */
const traitsOf = (request: object): string[] =>
  Object.entries(request).flatMap(([name, value]: [string, unknown]) => {
    if (value == null || value === false || COMMON.has(name) || (name === 'n' && value === 1)) return []
    if (name === 'messages') return mediaIn(value).map((type) => `${name}=${type}`)
    return value === true || (typeof value === 'string' && documented[name]?.includes(value))
      ? `${name}=${value}`
      : name
  })

const areFew = (traits: readonly string[]): boolean =>
  traits.length <= TRAITS && traits.every(({ length }) => length <= TRAIT_LENGTH)

/** Whether a trait of a request is the loss itself. Schemas are in two fields. */
function isOfLoss(loss: Loss, trait: string): boolean {
  const [field, own] = [fieldOf(trait), fieldOf(loss)]
  return field === own || (own === 'schemas' && (field === 'response_format' || field === 'tools'))
}

/** Whether a request is like those that were refused, but for what else is `known` to be refused. */
const isLike = ({ least, most }: Known, traits: readonly string[], known: readonly Known[]): boolean =>
  least.every((one) => traits.includes(one)) &&
  traits.every((one) => most.includes(one) || known.some(({ loss }) => isOfLoss(loss, one)))

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
    const traits = traitsOf(request)
    if (!areFew(traits)) return nothing
    return [...new Set(known.flatMap((one) => (isLike(one, traits, known) ? one.loss : [])))]
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
        // All that is known, whatever it was refused beside: a request is repeated once.
        const all = this.#of(request.model).map(({ loss }) => loss)
        const left = new Set([...all.filter((loss) => !found.includes(otherLimit[loss] ?? '')), ...found])
        const next = written(make([...left]))
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
    const traits = traitsOf(request)
    if (!areFew(traits)) return
    const sent = traits.filter((trait) => !left.has(fieldOf(trait)))
    let learnt = this.#of(model)
    for (const loss of found) {
      if (loss === UNKNOWN_SCHEMAS) continue
      const beside = sent.filter((trait) => !isOfLoss(loss, trait))
      const has = (traits: readonly string[], others: readonly string[]): boolean =>
        others.every((one) => traits.includes(one))
      // Of one reason: what is refused with less is refused with more, as far as it was tried.
      const same = learnt.filter((one) => one.loss === loss && (has(beside, one.least) || has(one.least, beside)))
      const least = same.reduce<readonly string[]>((all, one) => (has(all, one.least) ? one.least : all), beside)
      const all = [...new Set([...traits, ...same.flatMap((one) => one.most)])]
      const most = areFew(all) ? all : traits
      learnt = learnt.filter((one) => !same.includes(one) && one.loss !== otherLimit[loss])
      learnt.push({ loss, least, most, until: this.#now() + REMEMBERED_MS })
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

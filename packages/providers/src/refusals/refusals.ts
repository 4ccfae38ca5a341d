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

const written = ({ path, body, notes, maxOutput, headers }: UpstreamRequest): Written => ({
  path,
  body: JSON.stringify(body),
  notes,
  maxOutput,
  headers,
})

/** What a provider's upstream refuses, by model: learnt from its refusals, in memory (docs/decisions/044). */
export class Refusals {
  /** When each loss is to be tried again, by model. The oldest are first. */
  readonly #learnt = new Map<string, Map<Loss, number>>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** What is left out of requests to a model. */
  of(model: string): readonly Loss[] {
    const losses = this.#learnt.get(model)
    if (!losses) return nothing
    for (const [loss, until] of losses) if (until <= this.#now()) losses.delete(loss)
    if (losses.size === 0) this.#learnt.delete(model)
    return [...losses.keys()]
  }

  /**
   * The request to an upstream without what it is known to refuse.
   * @param make translates the request without some losses
   */
  outgoing(request: { model: string }, make: (losses: readonly Loss[]) => UpstreamRequest): Repeatable {
    const { model } = request
    const known = this.of(model)
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
        return { request: next, learn: () => this.#learn(model, found) }
      },
    }
  }

  #learn(model: string, found: Loss[]): void {
    if (model.length > MODEL_LENGTH) return
    const losses = this.#learnt.get(model) ?? new Map<Loss, number>()
    for (const loss of found) {
      if (loss === UNKNOWN_SCHEMAS) continue
      losses.delete(otherLimit[loss] ?? '')
      losses.set(loss, this.#now() + REMEMBERED_MS)
    }
    for (const oldest of losses.keys()) if (losses.size > PER_MODEL) losses.delete(oldest)
    this.#learnt.delete(model)
    this.#learnt.set(model, losses)
    for (const oldest of this.#learnt.keys()) if (this.#learnt.size > MODELS) this.#learnt.delete(oldest)
  }

  /** All that is remembered, for operators. */
  list(): Learnt[] {
    return [...this.#learnt.keys()].flatMap((model) =>
      this.of(model).map((field) => ({
        model,
        field,
        until: new Date(this.#learnt.get(model)!.get(field)!).toISOString(),
      })),
    )
  }
}

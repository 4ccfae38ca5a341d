import type { Need, RecentChoice, Target } from '@turnpike/core'
import type { Ranking } from './candidates.js'

/** Number of choices kept. */
const MOST = 100

/** Maximum length of a stored model id, because it is the caller's text. */
const MODEL_LENGTH = 200

/** The most recent choices among several targets, with their results. */
export class Choices {
  readonly #last: RecentChoice[] = []

  made({ request }: Need, { by, order }: Ranking, requestId: string | undefined, now: number): RecentChoice {
    const choice: RecentChoice = {
      request_id: requestId ?? null,
      time: new Date(now).toISOString(),
      model: request.model.slice(0, MODEL_LENGTH),
      provider: request.provider || null,
      by,
      order,
      served: null,
      attempts: 0,
    }
    if (this.#last.push(choice) > MOST) this.#last.shift()
    return choice
  }

  /** Notes which candidates the caller may not use: those that are not among the targets of the request. */
  narrow({ order }: RecentChoice, targets: readonly Target[]): void {
    for (const one of order)
      if (!targets.some(({ provider, model }) => provider.id === one.provider && model === one.model))
        one.excluded ??= 'forbidden'
  }

  /** Newest first. */
  list(): RecentChoice[] {
    return this.#last.toReversed()
  }
}

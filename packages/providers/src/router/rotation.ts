/**
 * Shares calls among several by weight: start-time fair queueing (Goyal, Vin and Cheng, 1996) of calls in place of packets. Each call costs 1 divided
 * by the weight of who gets it, and who has paid least is next. One that got nothing for a while has no claim to more than its share afterwards.
 */
export class Rotation<T> {
  readonly #weights: ReadonlyMap<T, number>
  readonly #paid = new Map<T, number>()
  /** What the one that was next had paid: the others are taken to have paid as much. */
  #time = 0

  /** @param weights above 0; whoever is first in it is first of equals */
  constructor(weights: ReadonlyMap<T, number>) {
    this.#weights = weights
  }

  #start(one: T): number {
    return Math.max(this.#time, this.#paid.get(one) ?? 0)
  }

  /** All of them, the next one first. */
  order(): T[] {
    return [...this.#weights.keys()].toSorted((a, b) => this.#start(a) - this.#start(b))
  }

  /** Counts a call. @param isNext whether it was chosen in its turn, and not in place of one that failed */
  charge(one: T, isNext: boolean): void {
    const start = this.#start(one)
    this.#paid.set(one, start + 1 / this.#weights.get(one)!)
    if (isNext) this.#time = start
  }
}

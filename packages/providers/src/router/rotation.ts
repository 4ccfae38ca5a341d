/** Characters of a session's name that count: it is the caller's text. */
const SESSION_LENGTH = 200

/** FNV-1a, of UTF-16 units, in 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}

/**
 * A number between 0 and 1, drawn for each of several: by the final mix of MurmurHash3. Whose -log(number) / weight is least wins as often as its weight
 * says (weighted rendezvous hashing), and where it is out, the others keep theirs.
 */
function draw(hash: number, index: number): number {
  let mixed = hash ^ Math.imul(index + 1, 0x9e3779b1)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (((mixed ^ (mixed >>> 16)) >>> 0) + 0.5) / 2 ** 32
}

/**
 * Shares calls among several by weight: start-time fair queueing (Goyal, Vin and Cheng, 1996) of calls in place of packets. Each call costs 1 divided
 * by the weight of who gets it, and who has paid least is next. One that got nothing for a while has no claim to more than its share afterwards.
 */
export class Rotation<T> {
  readonly #name: string
  readonly #weights: ReadonlyMap<T, number>
  readonly #paid = new Map<T, number>()
  /** What the one that was next had paid: the others are taken to have paid as much. */
  #time = 0

  /**
   * @param name makes the choices for a session differ from those of other rotations
   * @param weights above 0; whoever is first in it is first of equals
   */
  constructor(name: string, weights: ReadonlyMap<T, number>) {
    this.#name = name
    this.#weights = weights
  }

  /** What it has paid, of which whoever has the least is next. */
  start(one: T): number {
    return Math.max(this.#time, this.#paid.get(one) ?? 0)
  }

  /**
   * All of them, the next one first.
   * @param session always has the same order, so long as they and their weights are the same, and many sessions are shared by weight; absent = in turn
   */
  order(session?: string): T[] {
    if (session === undefined) return [...this.#weights.keys()].toSorted((a, b) => this.start(a) - this.start(b))
    const hash = hashOf(session.slice(0, SESSION_LENGTH) + this.#name)
    return Array.from(this.#weights, ([one, weight], index) => ({ one, wait: -Math.log(draw(hash, index)) / weight }))
      .toSorted((a, b) => a.wait - b.wait)
      .map(({ one }) => one)
  }

  /** Counts a call. @param isNext whether it was chosen in its turn, and not in place of one that failed */
  charge(one: T, isNext: boolean): void {
    const start = this.start(one)
    this.#paid.set(one, start + 1 / this.#weights.get(one)!)
    if (isNext) this.#time = start
  }

  /** Takes back the last call that was counted of it, which was not sent. */
  giveBack(one: T): void {
    this.#paid.set(one, this.#paid.get(one)! - 1 / this.#weights.get(one)!)
  }
}

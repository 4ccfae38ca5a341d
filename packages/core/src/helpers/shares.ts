/** What each of several holders has of something that there is only so much of. */
export class Shares {
  /** Those that have nothing have no entry. */
  private readonly held = new Map<string, number>()
  /** What all of them have. */
  taken = 0

  constructor(private readonly total: number) {}

  of(holder: string): number {
    return this.held.get(holder) ?? 0
  }
  /** Whether a holder has less than a fair share: all of it divided by the holders and one more, so that the next one finds room. */
  isBelow(holder: string): boolean {
    return this.of(holder) < this.total / (this.held.size + 1)
  }
  /** @param amount negative where it is given back */
  take(holder: string, amount: number): void {
    this.taken += amount
    const left = this.of(holder) + amount
    if (left === 0) this.held.delete(holder)
    else this.held.set(holder, left)
  }
}

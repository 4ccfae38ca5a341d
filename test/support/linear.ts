import { expect } from 'vitest'

/** Size of the smaller of two inputs; the other has four times as much. */
const SIZE = 3_000

/** Milliseconds of work, however busy the machine is. */
function work(run: () => unknown): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Fails where one takes several times as long as the other. */
export function expectNoSlower(one: () => unknown, other: () => unknown): void {
  other()
  const isNoSlower = (): boolean => work(one) < 4 * work(other) + 50
  // Garbage collection may fall into one of the two.
  expect([1, 2, 3].some(isNoSlower)).toBe(true)
}

/** Fails where four times as much takes much more than four times as long: sixteen times, where it is quadratic. */
export function expectLinear(of: (n: number) => () => void): void {
  const [small, large] = [of(SIZE), of(4 * SIZE)]
  small()
  const isLinear = (): boolean => work(large) < 8 * work(small) + 50
  // Garbage collection may fall into one of the two.
  expect([1, 2, 3].some(isLinear)).toBe(true)
}

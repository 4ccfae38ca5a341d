const resolved = Promise.resolve()

/** A cheaper queueMicrotask: on Node, that creates an AsyncResource per call. */
export const microtask = (callback: () => void): void => void resolved.then(callback)

/** Runs a callback after the current turn of the event loop; as a microtask where there is no `setImmediate`, as in Workers. */
export const afterTurn: (callback: () => void) => void =
  (globalThis as { setImmediate?: (callback: () => void) => void }).setImmediate ?? queueMicrotask

/** Milliseconds of {@link mapInTurns} between two turns. */
const STEP_MS = 5

/** How many wait for a turn of their own. */
let waiting = 0

/** Resolves in a later turn of the event loop, as {@link afterTurn}; of several that wait, each in another, so that long steps do not add up. */
export async function nextTurn(): Promise<void> {
  for (let turns = ++waiting; turns > 0; turns--) await new Promise<void>((resolve) => afterTurn(resolve))
  waiting--
}

/** Maps a long list; others have their turn after every few milliseconds. */
export async function mapInTurns<T, R>(items: readonly T[], map: (item: T, index: number) => R): Promise<R[]> {
  const mapped: R[] = []
  let begun = performance.now()
  for (const [index, item] of items.entries()) {
    mapped.push(map(item, index))
    if (performance.now() - begun < STEP_MS) continue
    await nextTurn()
    begun = performance.now()
  }
  return mapped
}

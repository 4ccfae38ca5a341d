const resolved = Promise.resolve()

/** A cheaper queueMicrotask: on Node, that creates an AsyncResource per call. */
export const microtask = (callback: () => void): void => void resolved.then(callback)

/** Runs a callback after the current turn of the event loop; as a microtask where there is no `setImmediate`, as in Workers. */
export const afterTurn: (callback: () => void) => void = globalThis.setImmediate ?? queueMicrotask

/** How many wait for a turn of their own. */
let waiting = 0

/** Resolves in a later turn of the event loop, as {@link afterTurn}; of several that wait, each in another, so that long steps do not add up. */
export async function nextTurn(): Promise<void> {
  for (let turns = ++waiting; turns > 0; turns--) await new Promise<void>((resolve) => afterTurn(resolve))
  waiting--
}

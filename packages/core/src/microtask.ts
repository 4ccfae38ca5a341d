const resolved = Promise.resolve()

/** A cheaper queueMicrotask: on Node, that creates an AsyncResource per call. */
export const microtask = (callback: () => void): void => void resolved.then(callback)

/** Runs a callback after the current turn of the event loop; as a microtask where there is no `setImmediate`, as in Workers. */
export const afterTurn: (callback: () => void) => void = globalThis.setImmediate ?? queueMicrotask

/** Resolves after the current turn of the event loop, as {@link afterTurn}. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => afterTurn(resolve))

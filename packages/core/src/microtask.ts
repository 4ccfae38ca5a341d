const resolved = Promise.resolve()

/** A cheaper queueMicrotask: on Node, that creates an AsyncResource per call. */
export const microtask = (callback: () => void): void => void resolved.then(callback)

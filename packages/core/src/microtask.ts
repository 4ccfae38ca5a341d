const resolved = Promise.resolve()

/** Runs a callback when the present step is over, for less than queueMicrotask, which makes an AsyncResource each time on Node. */
export const microtask = (callback: () => void): void => void resolved.then(callback)

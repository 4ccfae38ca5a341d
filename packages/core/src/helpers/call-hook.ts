import { isObject } from './is-object.js'

/** Calls a hook of the host. What it throws, or rejects with where it is an async function, must not change an answer or end the process. */
export function callHook(hook: () => unknown): void {
  try {
    const result = hook()
    if (isObject(result) && 'then' in result) Promise.resolve(result).catch(() => undefined)
  } catch {
    // Ignored.
  }
}

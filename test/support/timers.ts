import { expect, vi } from 'vitest'

type Timer = 'setTimeout' | 'setInterval'

/**
 * Notes the fake timers that our sources set from now on, until `vi.useRealTimers()`. What others set does not count, such as `fetch` of
 * Node for connections that earlier tests left open.
 * @returns what expects that none of ours is left; a callback that is due only now may still run
 */
export function watchTimers(): () => Promise<void> {
  const left = new Map<unknown, string>()
  for (const [set, clear] of [
    ['setTimeout', 'clearTimeout'],
    ['setInterval', 'clearInterval'],
  ] as const) {
    const [setFake, clearFake] = [globalThis[set], globalThis[clear]] as unknown as [
      (callback: () => void, ms?: number) => unknown,
      (timer: unknown) => void,
    ]
    const note = (kind: Timer) => (callback: () => void, ms?: number) => {
      const timer = setFake(() => {
        if (kind === 'setTimeout') left.delete(timer)
        callback()
      }, ms)
      const { stack = '' } = new Error('Set here')
      if (/packages\/\w+\/src\/(?!.*\.test\.ts)/.test(stack)) left.set(timer, stack)
      return timer
    }
    const forget = (timer: unknown): void => {
      left.delete(timer)
      clearFake(timer)
    }
    // `vi.useRealTimers()` reads the properties of the fakes.
    Object.assign(globalThis, {
      [set]: Object.assign(note(set), setFake),
      [clear]: Object.assign(forget, clearFake),
    })
  }
  return () =>
    expect
      .poll(async () => {
        await vi.advanceTimersByTimeAsync(1)
        return [...left.values()]
      })
      .toEqual([])
}

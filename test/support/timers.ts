import { expect, vi } from 'vitest'

/** Expects that no fake timer is left. Callbacks that are due only now, such as immediates, may still run; a timer that was not cleared stays. */
export const expectNoTimers = (): Promise<void> =>
  expect
    .poll(async () => {
      await vi.advanceTimersByTimeAsync(1)
      return vi.getTimerCount()
    })
    .toBe(0)

import { expect, it, vi } from 'vitest'
import { callHook } from './call-hook.js'

it('threat 194: what a hook throws, and what an async one rejects with, is ignored', async () => {
  const unhandled = vi.fn()
  process.on('unhandledRejection', unhandled)
  const hook = vi.fn()
  callHook(() => {
    hook()
    throw new Error('thrown')
  })
  callHook(async () => {
    hook()
    throw new Error('rejected')
  })
  callHook(hook)
  await new Promise((resolve) => setTimeout(resolve, 5))
  process.off('unhandledRejection', unhandled)
  expect([hook.mock.calls.length, unhandled.mock.calls.length]).toEqual([3, 0])
})

import type { KV, UsageLedger } from '@turnpike/core'
import type { Platform } from '@turnpike/platform'

/** Maximum duration of a request. An older hold was left behind by a crash. */
const LONGEST_REQUEST_MS = 3_600_000

/**
 * Finishes what a crash left behind: holds are settled, and deletions of projects go on. At once where no other process can use the store, holds
 * included, and then periodically.
 */
export async function finishLeftovers(
  kv: KV,
  ledger: UsageLedger,
  { projects }: Platform['operations'],
  onError: (error: unknown, context: object) => void,
): Promise<{ end(): Promise<void> }> {
  const finish = async (olderThanMs: number): Promise<void> => {
    await ledger.sweep(olderThanMs).catch((error: unknown) => onError(error, { sweep: 'holds' }))
    await projects.finishRemovals().catch((error: unknown) => onError(error, { sweep: 'deleted projects' }))
  }
  await finish(kv.capabilities.writers === 'one-process' ? 0 : LONGEST_REQUEST_MS)
  let last = Promise.resolve()
  const timer = setInterval(() => (last = finish(LONGEST_REQUEST_MS)), LONGEST_REQUEST_MS / 10)
  timer.unref()
  return {
    end() {
      clearInterval(timer)
      return last
    },
  }
}

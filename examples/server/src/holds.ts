import type { KV, UsageLedger } from '@turnpike/core'

/** Maximum duration of a request. An older hold was left behind by a crash. */
const LONGEST_REQUEST_MS = 3_600_000

/** Settles holds that a crash left behind: immediately if no other process can use the store, and then periodically. */
export async function sweepHolds(
  kv: KV,
  ledger: UsageLedger,
  onError: (error: unknown, context: object) => void,
): Promise<{ endSweeps(): Promise<void> }> {
  const sweep = async (olderThanMs: number): Promise<void> => {
    try {
      await ledger.sweep(olderThanMs)
    } catch (error) {
      onError(error, { sweep: 'holds' })
    }
  }
  await sweep(kv.capabilities.writers === 'one-process' ? 0 : LONGEST_REQUEST_MS)
  let last = Promise.resolve()
  const timer = setInterval(() => (last = sweep(LONGEST_REQUEST_MS)), LONGEST_REQUEST_MS / 10)
  timer.unref()
  return {
    endSweeps() {
      clearInterval(timer)
      return last
    },
  }
}

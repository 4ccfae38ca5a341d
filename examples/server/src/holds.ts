import type { KV, UsageLedger } from '@turnpike/core'

/** How long a request may take at most: a hold that is older was cut off by a crash. */
const LONGEST_REQUEST_MS = 3_600_000

/** Books what crashes have cut off: at once where no other process can have the store, and from time to time. */
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

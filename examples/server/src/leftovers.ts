import type { BlobStore, KV, UsageLedger } from '@turnpike/core'
import type { Platform } from '@turnpike/platform'

/** Maximum duration of a request. An older hold was left behind by a crash. */
const LONGEST_REQUEST_MS = 3_600_000
const DAY_MS = 86_400_000

/**
 * Finishes what a crash left behind: holds are settled, deletions of projects go on, and bytes without a file are removed. At once where no other
 * process can use the store, holds and uploads included, and then periodically. Once a day it empties the trash of what has been there for long enough.
 */
export async function finishLeftovers(
  {
    kv,
    blobs,
    ledger,
    operations,
  }: { kv: KV; blobs: BlobStore; ledger: UsageLedger; operations: Platform['operations'] },
  onError: (error: unknown, context: object) => void,
): Promise<{ end(): Promise<void> }> {
  const { projects, files } = operations
  const attempt = (sweep: string, run: () => Promise<unknown> | undefined): Promise<void> =>
    Promise.resolve()
      .then(run)
      .then(
        () => undefined,
        (error: unknown) => onError(error, { sweep }),
      )
  const finish = async (longestRequestMs: number, longestUploadMs: number): Promise<void> => {
    await attempt('holds', () => ledger.sweep(longestRequestMs))
    await attempt('deleted projects', () => projects.finishRemovals())
    await attempt('bytes without a file', () => files?.verify(longestUploadMs))
  }
  const daily = async (): Promise<void> => {
    await attempt('trash', () => files?.purge())
    await attempt('parts of files', () => blobs.sweep?.())
  }
  const isAlone = kv.capabilities.writers === 'one-process'
  await finish(isAlone ? 0 : LONGEST_REQUEST_MS, isAlone ? 0 : DAY_MS)
  let last = daily()
  const timers = [
    setInterval(() => (last = last.then(() => finish(LONGEST_REQUEST_MS, DAY_MS))), LONGEST_REQUEST_MS / 10),
    setInterval(() => (last = last.then(daily)), DAY_MS),
  ]
  for (const timer of timers) timer.unref()
  return {
    end() {
      for (const timer of timers) clearInterval(timer)
      return last
    },
  }
}

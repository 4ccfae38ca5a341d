import type { BlobStore, KV, UsageLedger } from '@turnpike/core'
import { expireRecords } from '@turnpike/core'
import type { Platform } from '@turnpike/platform'

/** Age from which a hold counts as left behind by a crash. Nothing ends a request that takes longer; its record replaces the estimate then. */
const STALE_HOLD_MS = 3_600_000
const DAY_MS = 86_400_000
/** How often replies are looked for whose process has ended. */
const REPLIES_MS = 30_000

/**
 * Finishes what a crash left behind: replies of conversations are marked, holds are settled, deletions of projects and erasures of users go on, and bytes without a file are removed. At once where no other
 * process can use the store, holds and uploads included, and then periodically. Once a day it empties the trash of what has been there for long enough, and removes
 * usage records that are old enough.
 */
export async function finishLeftovers(
  {
    kv,
    blobs,
    ledger,
    operations,
    usageDays,
  }: {
    kv: KV
    blobs: BlobStore
    ledger: UsageLedger
    operations: () => Platform['operations']
    /** Days for which usage records are kept; 0 = for ever. */
    usageDays: () => number
  },
  onError: (error: unknown, context: object) => void,
): Promise<{ end(): Promise<void> }> {
  const attempt = (sweep: string, run: () => Promise<unknown> | undefined): Promise<void> =>
    Promise.resolve()
      .then(run)
      .then(
        () => undefined,
        (error: unknown) => onError(error, { sweep }),
      )
  const finish = async (holdMs: number, uploadMs: number): Promise<void> => {
    await attempt('holds', () => ledger.sweep(holdMs))
    await attempt('deleted projects', () => operations().projects.finishRemovals())
    await attempt('erased users', () => operations().erasures.finish())
    await attempt('bytes without a file', () => operations().files?.verify(uploadMs))
  }
  const daily = async (): Promise<void> => {
    await attempt('trash', () => operations().files?.purge())
    await attempt('parts of files', () => blobs.sweep?.())
    const days = usageDays()
    if (days > 0) await attempt('usage records', () => expireRecords(kv, new Date(Date.now() - days * DAY_MS)))
  }
  const replies = (isAlone?: boolean): Promise<void> =>
    attempt('replies', () => operations().conversations.endAbandoned(isAlone))
  const isAlone = kv.capabilities.writers === 'one-process'
  await replies(isAlone)
  await finish(isAlone ? 0 : STALE_HOLD_MS, isAlone ? 0 : DAY_MS)
  let last = daily()
  const timers = [
    setInterval(() => (last = last.then(() => replies())), REPLIES_MS),
    setInterval(() => (last = last.then(() => finish(STALE_HOLD_MS, DAY_MS))), STALE_HOLD_MS / 10),
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

import { ApiError, StorageError } from './errors.js'
import { uuidv7 } from './ids.js'
import type { Key, KV } from './kv/kv.js'
import type { Rates, Units } from './prices/price.js'
import type { Considered, Task } from './provider.js'

/** How a request to an upstream ended; every stream ends in exactly one of these. */
export type Outcome = 'complete' | 'upstream_error' | 'truncated' | 'client_abort' | 'idle_timeout' | 'server_shutdown'

/** One request's use of a model, and what it cost at the price in force when it was made. */
export type UsageRecord = {
  /** The request id that the caller was given. */
  request_id: string
  user_id: string
  key_id: string
  /** The tag headers of the request; '' where it had none. */
  session_id: string
  conversation_id: string
  task_id: string
  project_id: string
  task: Task
  model: string
  provider: string
  /** Calls of upstreams that it took. */
  attempts: number
  /** Who was compared, where price decided. */
  considered?: Considered[]
  prompt_tokens: number
  completion_tokens: number
  /** prompt_tokens + completion_tokens. */
  tokens: number
  /** `reported` by the upstream, `partial` where it ended before its report was whole, or `estimated` by us. */
  accuracy: 'reported' | 'partial' | 'estimated'
  /** What was used, by class. */
  units: Units
  /** US dollars for a million units of each class, as charged; empty where the price is not known. */
  rates: Rates
  /** Version of the prices that these are from. */
  catalogue: string
  /** Billionths of a US dollar; null where the price is not known. */
  cost_nano_usd: number | null
  outcome: Outcome
  timestamp: string
}

/** Sums over records; what was used at a price that is not known adds nothing to the cost. */
export type UsageTotals = {
  requests: number
  prompt_tokens: number
  completion_tokens: number
  tokens: number
  cost_nano_usd: number
}

export interface UsageLedger {
  /** Resolves once the record is durable; to be awaited before the caller is told that the response is whole. */
  append(record: UsageRecord): Promise<void>
  /** Rejects with 500 `ledger_unavailable` while records cannot be kept; to be awaited before money is spent. */
  ready(): Promise<void>
  /** Sums over everything that the user ever used, in one read. */
  totals(userId: string): Promise<UsageTotals>
  /** The user's records, newest first; `next` is the `after` of the following page. */
  records(userId: string, page?: { after?: string; limit?: number }): Promise<{ items: UsageRecord[]; next?: string }>
}

/** What records add to a user's totals. */
export function sumOf(records: UsageRecord[]): Omit<UsageTotals, 'tokens'> {
  const sum = { requests: records.length, prompt_tokens: 0, completion_tokens: 0, cost_nano_usd: 0 }
  for (const record of records) {
    sum.prompt_tokens += record.prompt_tokens
    sum.completion_tokens += record.completion_tokens
    sum.cost_nano_usd += record.cost_nano_usd ?? 0
  }
  return sum
}

/** Tries of one flush whose outcome is unknown; all under one id, so that it is never counted twice. */
const TRIES = 3
/** Most records in one flush. */
const GROUP = 512

/** Runs when the present turn of the event loop is over, so that requests which end in one turn share a flush. Workers have microtasks only. */
const soon: (callback: () => void) => void = globalThis.setImmediate ?? queueMicrotask

const unavailable = (cause: unknown, spent: boolean): ApiError =>
  new ApiError(500, 'server_error', 'Usage cannot be recorded at the moment', {
    code: 'ledger_unavailable',
    // What the upstream has done is paid for: a client that tried again would pay twice.
    shouldRetry: spent ? false : undefined,
    cause,
  })

interface Waiting {
  record: UsageRecord
  resolve(): void
  reject(error: unknown): void
}

/**
 * The usage ledger: one flush in flight, what arrives meanwhile is the next, so nothing waits for a timer.
 * A flush is one commit: a segment of records per user and the sums that they add to.
 * @param options.onLost called with records that could not be stored, the last chance to keep them; default none.
 */
export function usageLedger(
  kv: KV,
  options: { onLost?: (records: UsageRecord[], error: unknown) => void } = {},
): UsageLedger {
  let queue: Waiting[] = []
  let flushing = false
  let failure: unknown

  const store = async (records: UsageRecord[]): Promise<void> => {
    const flushId = uuidv7()
    const byUser = new Map<string, UsageRecord[]>()
    for (const record of records) {
      const list = byUser.get(record.user_id)
      if (list) list.push(record)
      else byUser.set(record.user_id, [record])
    }
    const segments = [...byUser].map(([user, value]) => ({ key: ['usage', user, flushId] as Key, value }))
    const sum = [...byUser].map(([user, list]) => ({ key: ['usage-total', user] as Key, add: sumOf(list) }))
    const check = segments.map(({ key }) => ({ key, version: null }))
    for (let attempt = 1; ; attempt++)
      try {
        // `false` can only mean that an earlier try of this flush was applied after all.
        await kv.commit({ check, set: segments, sum })
        return
      } catch (error) {
        if (!(StorageError.is(error) && error.outcome === 'unknown') || attempt === TRIES) throw error
      }
  }

  const flush = async (): Promise<void> => {
    while (queue.length > 0) {
      const group = queue
      queue = group.splice(GROUP)
      const records = group.map(({ record }) => record)
      try {
        await store(records)
        failure = undefined
        for (const { resolve } of group) resolve()
      } catch (error) {
        failure = error
        for (const { reject } of group) reject(unavailable(error, true))
        try {
          options.onLost?.(records, error)
        } catch {
          // The host's own hook failed; the ledger goes on.
        }
      }
    }
    flushing = false
  }

  return {
    append: (record) =>
      new Promise<void>((resolve, reject) => {
        queue.push({ record, resolve, reject })
        if (flushing) return
        flushing = true
        soon(() => void flush())
      }),
    async ready() {
      if (failure === undefined) return
      try {
        await kv.commit({ set: [{ key: ['usage', 'probe'], value: true }] })
        failure = undefined
      } catch (error) {
        throw unavailable(error, false)
      }
    },
    async totals(userId) {
      const sums = (await kv.get<Partial<UsageTotals>>(['usage-total', userId]))?.value
      const { requests = 0, prompt_tokens = 0, completion_tokens = 0, cost_nano_usd = 0 } = sums ?? {}
      return { requests, prompt_tokens, completion_tokens, tokens: prompt_tokens + completion_tokens, cost_nano_usd }
    },
    async records(userId, { after, limit = 100 } = {}) {
      const prefix = ['usage', userId]
      const page = await kv.list<UsageRecord[]>(prefix, {
        reverse: true,
        limit,
        ...(after !== undefined && { after: [...prefix, after] }),
      })
      const items = page.items.flatMap(({ value }) => value.toReversed())
      return page.next ? { items, next: page.next.at(-1)! } : { items }
    },
  }
}

/** Requests to the reference server while its store fails over, and what becomes of their usage records. @module */
import { Agent, request as httpRequest } from 'node:http'
import type { UsageRecord } from '@turnpike/core'
import { usageLedger, verifyStore } from '@turnpike/core'
import { expect } from 'vitest'
import { openStorage } from '../../packages/turnpike/src/storage.js'
import type { Stack } from '../support/stack.js'
import { startStack } from '../support/stack.js'

const ADMIN_ID = '00000000-0000-7000-8000-000000000001'
const CALLERS = 16
/** Milliseconds after which a request counts as hanging. */
const HANGS = 60_000

interface Outcome {
  /** Of the answer; 0 if the connection broke. */
  status: number
  requestId: string
  /** Whether it came to its end: `[DONE]` of a stream. */
  whole: boolean
  endedAt: number
  ms: number
}

/** Requests that do not end before `finish`. */
export interface Load {
  /** Waits for this number of whole answers from now on. */
  answers(count: number): Promise<void>
  /** Whole answers so far. */
  count(): number
  /** Lets the requests end, stops the server, and compares the answers with the records in the store. */
  finish(): Promise<Books>
  stop(): Promise<void>
}

export interface Books {
  /** Whole answers without a record. */
  lost: number
  /** Records of a request that has another one. */
  double: number
  /** Requests without an end. */
  hung: number
  /** All of the above, the longest time between two whole answers, and how many other answers had each status. */
  text: string
}

const ask = ({ url, key }: Stack, agent: Agent, stream: boolean): Promise<Outcome> =>
  new Promise((resolve) => {
    const begun = performance.now()
    const end = (status: number, requestId = '', whole = false): void => {
      const endedAt = performance.now()
      resolve({ status, requestId, whole, endedAt, ms: endedAt - begun })
    }
    const call = httpRequest(
      `${url}/chat/completions`,
      {
        method: 'POST',
        agent,
        signal: AbortSignal.timeout(HANGS),
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      },
      (response) => {
        let text = ''
        const ended = (): void => {
          const status = response.statusCode!
          const whole = response.complete && status === 200 && (!stream || text.endsWith('data: [DONE]\n\n'))
          end(status, String(response.headers['x-request-id']), whole)
        }
        response.on('data', (piece) => (text += String(piece))).on('close', ended)
      },
    )
    call.on('error', () => end(0))
    call.end(JSON.stringify({ model: 'gpt-4o-mini', stream, messages: [{ role: 'user', content: 'Hi' }] }))
  })

/** Starts the reference server with two workers on a store, and requests, half of them streams. */
export async function startLoad(STORAGE: string): Promise<Load> {
  const stack = await startStack({ STORAGE, WORKERS: '2', LOG: 'silent', BOOTSTRAP_GATEWAY_RATE_LIMIT: '1000000000' })
  const agent = new Agent({ keepAlive: true })
  const outcomes: Outcome[] = []
  const ending = new AbortController()
  let whole = 0
  const calling = Promise.all(
    Array.from({ length: CALLERS }, async (_, i) => {
      while (!ending.signal.aborted) {
        const outcome = await ask(stack, agent, i % 2 === 0)
        outcomes.push(outcome)
        if (outcome.whole) whole++
      }
    }),
  )
  const stop = async (): Promise<void> => {
    ending.abort()
    await calling
    agent.destroy()
    await stack.stop()
  }
  return {
    count: () => whole,
    async answers(count) {
      const before = whole
      await expect.poll(() => whole - before, { timeout: HANGS }).toBeGreaterThanOrEqual(count)
    },
    stop,
    async finish() {
      await stop()
      return booksOf(outcomes, STORAGE)
    },
  }
}

/** The records of the administrator. @throws if indexes or totals differ from them */
export async function recordsOf(STORAGE: string): Promise<UsageRecord[]> {
  const { kv } = await openStorage(STORAGE)
  try {
    const ledger = usageLedger(kv)
    const records: UsageRecord[] = []
    for (let after: string | undefined, more = true; more;) {
      const page = await ledger.records(ADMIN_ID, { limit: 500, ...(after !== undefined && { after }) })
      records.push(...page.items)
      after = page.next
      more = after !== undefined
    }
    for await (const problem of verifyStore(kv)) throw new Error(problem)
    expect(await ledger.totals('user', ADMIN_ID)).toMatchObject({ requests: records.length })
    return records
  } finally {
    await kv.close()
  }
}

async function booksOf(outcomes: Outcome[], STORAGE: string): Promise<Books> {
  const records = await recordsOf(STORAGE)
  const recorded = new Set(records.map(({ request_id }) => request_id))
  const whole = outcomes.filter((outcome) => outcome.whole)
  const lost = whole.filter(({ requestId }) => !recorded.has(requestId)).length
  const double = records.length - recorded.size
  const times = whole.map(({ endedAt }) => endedAt).toSorted((a, b) => a - b)
  const gap = Math.max(...times.slice(1).map((time, i) => time - times[i]!))
  const longest = Math.max(...outcomes.map(({ ms }) => ms))
  const others: Record<number, number> = {}
  for (const { whole, status } of outcomes) if (!whole) others[status] = (others[status] ?? 0) + 1
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`
  return {
    lost,
    double,
    hung: outcomes.filter(({ ms }) => ms >= HANGS).length,
    text:
      `${whole.length} whole answers, ${records.length} records, ${lost} lost, ${double} double; ` +
      `no answer for ${seconds(gap)}, longest request ${seconds(longest)}; others by status: ${JSON.stringify(others)}`,
  }
}

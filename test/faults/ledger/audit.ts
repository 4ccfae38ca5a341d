import type { KV, UsageRecord } from '@turnpike/core'
import { entriesOf, usageLedger, verifyStore } from '@turnpike/core'
import { expect } from 'vitest'
import type { Asked } from './journal.js'
import { estimateOf, MAX_TOKENS } from './journal.js'

/** All records of a store. */
export async function recordsOf(kv: KV): Promise<UsageRecord[]> {
  const records: UsageRecord[] = []
  for await (const { value } of entriesOf<UsageRecord[]>(kv, ['usage'])) records.push(...value)
  return records
}

/** Verifies that the store is consistent, with `verifyStore`. */
export async function verify(kv: KV): Promise<void> {
  const problems: string[] = []
  for await (const problem of verifyStore(kv)) problems.push(problem)
  expect(problems).toEqual([])
}

/** The expected record of a request whose client received the whole response. */
const finishedRecord = (asked: Asked): Partial<UsageRecord> => {
  const { plan, requestId } = asked
  const tokens: Partial<UsageRecord> = plan.usage
    ? { prompt_tokens: plan.prompt, accuracy: 'reported' }
    : estimateOf(asked)
  return { request_id: requestId!, outcome: 'complete', completion_tokens: plan.completion, ...tokens }
}

/** The expected record of a request whose hold was swept, because its process was killed. */
const sweptRecord = (asked: Asked): Partial<UsageRecord> => ({
  ...estimateOf(asked),
  completion_tokens: MAX_TOKENS,
})

/**
 * Compares usage records with a journal: each record belongs to a request of the journal and has its user, key and tags; no request has
 * two records; each request whose client received the whole response has one.
 * @returns the records, by request
 */
export function compare(journal: Asked[], records: UsageRecord[]): Map<Asked, UsageRecord> {
  expect(new Set(records.map(({ request_id }) => request_id)).size, 'request ids').toBe(records.length)
  const asked = new Map(journal.map((one) => [one.plan.id, one]))
  const recorded = new Map<Asked, UsageRecord>()
  for (const record of records) {
    const of = asked.get(record.conversation_id)
    if (!of) throw new Error(`Record ${record.request_id} belongs to no request`)
    expect(recorded.get(of), `two records of ${record.conversation_id}`).toBeUndefined()
    recorded.set(of, record)
    const { holder, session, inSession, project, task, counts } = of
    const { user_id, key_id, session_id, in_session, project_id, task_id, in_project, in_task } = record
    expect({ user_id, key_id, session_id, in_session, project_id, task_id, in_project, in_task }).toEqual({
      user_id: holder.userId,
      key_id: holder.keyId,
      session_id: session,
      in_session: inSession,
      project_id: project || counts.project,
      task_id: task,
      in_project: counts.project !== '' || undefined,
      in_task: counts.task !== '' || undefined,
    })
    if (of.finished) expect(record).toMatchObject(finishedRecord(of))
    else if (record.outcome === 'server_shutdown') expect(record).toMatchObject(sweptRecord(of))
  }
  const lost = journal.filter((one) => one.finished && !recorded.has(one))
  expect(lost, 'finished without a record').toEqual([])
  return recorded
}

interface Sum {
  requests: number
  prompt_tokens: number
  completion_tokens: number
  cost_nano_usd: number
}

/** The sums of records, grouped by an id. */
function sumsBy(records: UsageRecord[], idOf: (record: UsageRecord) => string): Map<string, Sum> {
  const sums = new Map<string, Sum>()
  for (const record of records) {
    const sum = sums.get(idOf(record)) ?? { requests: 0, prompt_tokens: 0, completion_tokens: 0, cost_nano_usd: 0 }
    sum.requests++
    sum.prompt_tokens += record.prompt_tokens
    sum.completion_tokens += record.completion_tokens
    sum.cost_nano_usd += record.cost_nano_usd!
    sums.set(idOf(record), sum)
  }
  return sums
}

/** The cost of records, grouped by an id, in billionths of a US dollar. */
export const costBy = (records: UsageRecord[], idOf: (record: UsageRecord) => string): Map<string, number> =>
  new Map([...sumsBy(records, idOf)].map(([id, { cost_nano_usd }]) => [id, cost_nano_usd]))

/** Compares the totals of users, keys, sessions, projects and tasks with the sums of the records. */
export async function verifyTotals(kv: KV, records: UsageRecord[]): Promise<void> {
  const sums = {
    user: sumsBy(records, ({ user_id }) => user_id),
    key: sumsBy(records, ({ key_id }) => key_id),
    session: sumsBy(
      records.filter(({ in_session }) => in_session),
      ({ session_id }) => session_id,
    ),
    project: sumsBy(
      records.filter(({ in_project }) => in_project),
      ({ project_id }) => project_id,
    ),
    task: sumsBy(
      records.filter(({ in_task }) => in_task),
      ({ task_id }) => task_id,
    ),
  }
  const ledger = usageLedger(kv)
  for (const [of, byId] of Object.entries(sums)) {
    for (const [id, sum] of byId) expect(await ledger.totals(of as 'user', id)).toMatchObject(sum)
    const counters: string[] = []
    for await (const { key } of entriesOf(kv, ['usage-total', of])) counters.push(key[2]!)
    expect(counters.toSorted()).toEqual([...byId.keys()].toSorted())
  }
}

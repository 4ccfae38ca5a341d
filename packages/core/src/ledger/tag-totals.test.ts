import { expect, it } from 'vitest'
import { totalsOfRecords, usageRecord } from '../../../../test/support/usage-record.js'
import { memoryKV } from '../kv/memory-kv.js'
import { verifyStore } from '../verify.js'
import { usageLedger } from './usage-ledger.js'
import type { UsageRecord } from './usage-record.js'

/** Records of one user, key and hour that name projects, tasks and conversations in all combinations; one in three counts in what it names. */
function records(): UsageRecord[] {
  const made: UsageRecord[] = []
  for (const project_id of ['p1', 'p2', ''])
    for (const task_id of ['t1', 't2', ''])
      for (const conversation_id of ['c1', ''])
        for (const counts of [true, false, false]) {
          const n = made.length
          const cost_nano_usd = n % 7 === 0 ? null : 1_000 * 3 ** (n % 11)
          const [prompt_tokens, completion_tokens] = [n, 2 ** (n % 13)]
          const tokens = prompt_tokens + completion_tokens
          const tags = { project_id, task_id, conversation_id }
          const record = usageRecord({ ...tags, prompt_tokens, completion_tokens, tokens, cost_nano_usd })
          if (counts && project_id) record.in_project = true
          if (counts && task_id) record.in_task = true
          if (counts && conversation_id) record.in_conversation = true
          made.push(record)
        }
  return made
}

it('totals of projects, tasks and conversations are the exact sums of the records that count in them', async () => {
  const kv = await memoryKV()
  const ledger = usageLedger(kv)
  const all = records()
  await Promise.all(all.map((record) => ledger.append(record)))
  for (const id of ['p1', 'p2', 'p3', ''])
    expect(await ledger.totals('project', id)).toEqual(
      totalsOfRecords(all.filter((r) => r.in_project && r.project_id === id)),
    )
  for (const id of ['t1', 't2', ''])
    expect(await ledger.totals('task', id)).toEqual(totalsOfRecords(all.filter((r) => r.in_task && r.task_id === id)))
  expect(await ledger.totals('conversation', 'c1')).toEqual(totalsOfRecords(all.filter((r) => r.in_conversation)))
  expect(await ledger.totals('all', '')).toEqual(totalsOfRecords(all))
  expect((await ledger.totalsOfMany('project', ['p2', 'none'])).map(({ requests }) => requests)).toEqual([6, 0])
  const problems: string[] = []
  for await (const problem of verifyStore(kv)) if (!problem.includes('of user')) problems.push(problem)
  expect(problems).toEqual([])
})

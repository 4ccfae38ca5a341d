import type { UsageRecord, UsageTotals } from '@turnpike/core'

/** A usage record, with `fields` over those of a small one. */
export const usageRecord = (fields: Partial<UsageRecord> = {}): UsageRecord => ({
  request_id: 'r',
  user_id: 'ada',
  key_id: 'key',
  session_id: '',
  conversation_id: '',
  task_id: '',
  project_id: '',
  in_session: false,
  task: 'chat',
  model: 'gpt-4o',
  provider: 'openai',
  attempts: 1,
  prompt_tokens: 10,
  completion_tokens: 3,
  tokens: 13,
  accuracy: 'reported',
  units: { input: 10, output: 3 },
  rates: { input: 2.5, output: 10 },
  catalogue: 'v1',
  cost_nano_usd: 55_000,
  outcome: 'complete',
  latency_ms: 20,
  first_token_ms: null,
  timestamp: '2026-01-02T00:00:00.000Z',
  ...fields,
})

/** The totals of no records. */
export const noUsage: Readonly<UsageTotals> = {
  requests: 0,
  unpriced: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  tokens: 0,
  cost_nano_usd: 0,
}

/** The sums of records. */
export function totalsOfRecords(records: readonly UsageRecord[]): UsageTotals {
  const totals = { ...noUsage }
  for (const { prompt_tokens, completion_tokens, tokens, cost_nano_usd } of records) {
    totals.requests++
    if (cost_nano_usd === null) totals.unpriced++
    totals.prompt_tokens += prompt_tokens
    totals.completion_tokens += completion_tokens
    totals.tokens += tokens
    totals.cost_nano_usd += cost_nano_usd ?? 0
  }
  return totals
}

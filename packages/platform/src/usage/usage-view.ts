import type { UsageTotals } from '@turnpike/core'
import { toUsd } from '@turnpike/core'
import { totalsOf } from '@turnpike/core/internal'

/** The totals of nothing. */
export const none: UsageTotals = totalsOf()

/** Totals that are added, or with `sign` -1 subtracted. */
export const sum = (a: UsageTotals, b: UsageTotals, sign: 1 | -1 = 1): UsageTotals => {
  const total = { ...a }
  for (const name of Object.keys(none) as (keyof UsageTotals)[]) total[name] += sign * b[name]
  return total
}

/** Usage as answers have it. */
export const usageView = ({ requests, prompt_tokens, completion_tokens, tokens, cost_nano_usd }: UsageTotals) => ({
  requests,
  prompt_tokens,
  completion_tokens,
  total_tokens: tokens,
  cost_usd: toUsd(cost_nano_usd),
})

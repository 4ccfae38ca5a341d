import { Figure } from '../components/figures.js'
import { count, plural, usd } from '../format.js'
import type { UsagePeriod } from './periods.js'
import { usagePeriods } from './periods.js'
import type { UsageReport } from './report.js'
import { change, measures } from './report.js'

/** What a period came to, compared with the one before. */
export function UsageFigures({
  period,
  total,
  before,
}: { period: UsagePeriod } & Pick<UsageReport, 'total' | 'before'>) {
  const name = usagePeriods.find(([hours]) => hours === period)![1]
  const compared = (now: number, then: number, format: (value: number) => string) => {
    const by = change(now, then)
    if (by === undefined) return `nothing in the ${name} before either`
    return by === 'new' ? (
      `nothing in the ${name} before`
    ) : (
      <>
        <strong class="number">{by}</strong> {by === 'as before' ? '' : 'against '}
        <span class="number">{format(then)}</span> in the {name} before
      </>
    )
  }
  const { cost, requests, tokens } = measures
  return (
    <dl class="figures">
      <Figure name="Cost" value={usd(total.cost_usd)} detail={compared(total.cost_usd, before.cost_usd, cost.format)}>
        {total.unpriced > 0 ? `${plural(total.unpriced, 'request')} without a known price` : undefined}
      </Figure>
      <Figure
        name="Requests"
        value={count(total.requests)}
        detail={compared(total.requests, before.requests, requests.format)}
      >
        {total.requests > 0 ? `${usd(total.cost_usd / total.requests)} each on average` : undefined}
      </Figure>
      <Figure
        name="Tokens"
        value={count(tokens.of(total))}
        detail={compared(tokens.of(total), tokens.of(before), tokens.format)}
      >
        {total.requests > 0 ? `${count(total.prompt_tokens)} in, ${count(total.completion_tokens)} out` : undefined}
      </Figure>
    </dl>
  )
}

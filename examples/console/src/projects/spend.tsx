import type { Schemas } from '@turnpike/client'
import type { Data } from '@turnpike/ui'
import { count, ErrorNotice, plural, usd } from '@turnpike/ui'

/** What something cost, in a line that is kept free until it is known: `Project: 3 requests · 1,234 tokens · $0.0012`. @param name of what it is */
export const Spend = ({ name, data: { value, error, again } }: { name: string; data: Data<Schemas['Spend']> }) => (
  <>
    <ErrorNotice error={error} again={again} />
    <span class="spend small muted number">
      {value && (
        <>
          {name}: {plural(value.requests, 'request')} · {count(value.total_tokens)} tokens ·{' '}
          <b>{usd(value.cost_usd)}</b>
        </>
      )}
    </span>
  </>
)

import type { Schemas } from '@turnpike/client'
import type { Data } from '@turnpike/ui'
import { count, ErrorNotice, plural, usd } from '@turnpike/ui'

/** What something cost, in a line: `3 requests · 1,234 tokens · $0.0012`. */
export const Spend = ({ data: { value, error, again } }: { data: Data<Schemas['Spend']> }) => (
  <>
    {error !== undefined && <ErrorNotice error={error} again={again} />}
    {value && (
      <span class="spend small muted number">
        {plural(value.requests, 'request')} · {count(value.total_tokens)} tokens · <b>{usd(value.cost_usd)}</b>
      </span>
    )}
  </>
)

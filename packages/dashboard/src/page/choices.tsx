import type { Column } from '@turnpike/ui'
import { Facts, NONE, Status, Table, time, usd } from '@turnpike/ui'
import type { Candidate, Choice, Simulated } from './answers.js'

const reasons: Record<string, string> = {
  unfit: 'cannot do what the request asks for',
  context: 'the prompt is longer than its context',
  output: 'cannot answer at that length',
  forbidden: 'not among the models that the key may use',
  unhealthy: 'failed lately, so it rests',
  limited: 'is rate limited, so it rests',
}

/** Why a candidate stands where it stands. */
function reasonOf(candidate: Candidate, { by, order }: Simulated): { tone?: 'off' | 'warn'; text: string } {
  const { excluded, behind, expected_usd } = candidate
  if (excluded !== null) return { tone: 'off', text: reasons[excluded] ?? excluded }
  if (behind !== null) return { tone: 'warn', text: reasons[behind] ?? behind }
  const able = order.filter((one) => one.excluded === null)
  const isFirst = able[0] === candidate
  if (by === 'order') return { text: isFirst ? 'configured before the others' : 'used if those before it fail' }
  if (expected_usd === null) return { text: 'its price is unknown, so it comes after those with one' }
  if (!isFirst) return { text: 'costs as much or more; used if those before it fail' }
  const isCheapest = able.every((one) => one.expected_usd === null || one.expected_usd >= expected_usd)
  return { text: isCheapest ? 'the cheapest for this request' : 'the cheapest of those that are well' }
}

/** The candidates for a request in the order in which they are called, each with why. */
export function Candidates({ choice, served }: { choice: Simulated; served?: Choice['served'] }) {
  const { order } = choice
  const columns: Column<Candidate>[] = [
    {
      name: 'Candidate',
      cell: (one) => (
        <>
          {order.indexOf(one) + 1}. {one.provider}/{one.model}{' '}
          {served?.provider === one.provider && served.model === one.model && (
            <span class="badge accent">answered</span>
          )}
        </>
      ),
    },
    { name: 'Expected', number: true, cell: ({ expected_usd }) => (expected_usd === null ? NONE : usd(expected_usd)) },
    {
      name: 'Why',
      cell: (candidate) => {
        const { tone, text } = reasonOf(candidate, choice)
        return tone ? <Status tone={tone}>{text}</Status> : text
      },
    },
  ]
  return (
    <Table
      caption="Candidates in the order of calls"
      columns={columns}
      rows={order}
      rowKey={(one) => String(order.indexOf(one))}
    />
  )
}

/** The provider and model that answered, or why none did. */
export const answeredBy = ({ served, attempts }: Choice): string =>
  served ? `${served.provider}/${served.model}` : attempts > 0 ? 'none: all calls failed' : 'none could serve it'

/** What was asked for, and what decided. */
export const ChoiceFacts = ({ choice }: { choice: Choice }) => (
  <Facts
    facts={[
      ['Time', time(choice.time)],
      ['Model', choice.model],
      ['Provider', choice.provider ?? 'any'],
      ['Decided by', choice.by === 'price' ? 'price' : 'the order of configuration'],
      ['Answered', answeredBy(choice)],
      ['Calls', choice.attempts],
    ]}
  />
)

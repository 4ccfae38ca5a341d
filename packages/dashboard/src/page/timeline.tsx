import type { ComponentChildren } from 'preact'
import { duration, Status, words } from '@turnpike/ui'
import type { BalancerAnswer, RequestEvent } from './answers.js'
import { callsOf } from './calls.js'
import { Candidates } from './choices.js'
import { kindName } from './failures.js'
import { ResultStatus } from './request-columns.js'

type Choice = BalancerAnswer['choices'][number]

/** A part of the time of a request, from 0 to 100. */
const Span = ({ from, to, tone }: { from: number; to: number; tone: 'good' | 'bad' | 'off' }) => (
  <svg class={`span ${tone}`} viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
    <rect class="ground" width="100" height="6" />
    <rect x={from} width={Math.max(0.8, to - from)} height="6" />
  </svg>
)

const Step = ({
  at,
  title,
  children,
}: {
  at?: number | undefined
  title: ComponentChildren
  children?: ComponentChildren
}) => (
  <li>
    <span class="at number">{at === undefined ? '' : at === 0 ? '0' : duration(at)}</span>
    <div class="step">
      <div class="step-title">{title}</div>
      {children}
    </div>
  </li>
)

/** What happened to a request, in order: how a provider was chosen, which calls failed, the first token and the end. @param choice how it was chosen, where that is kept */
export function Timeline({ event, choice }: { event: RequestEvent; choice?: Choice | undefined }) {
  const { duration_ms, first_token_ms } = event
  const share = (ms: number): number => (duration_ms === 0 ? 0 : (ms / duration_ms) * 100)
  const calls = callsOf(event)
  return (
    <ol class="timeline">
      <Step at={0} title="Received" />
      {choice && (
        <Step
          title={`${choice.order.length} candidates, in the order of ${choice.by === 'price' ? 'price' : 'configuration'}`}
        >
          <Candidates choice={choice} served={choice.served} />
        </Step>
      )}
      {calls.map(({ name, failure, start, end }, i) => (
        <Step
          key={i}
          at={start}
          title={
            <>
              <span class="break">{name}</span>
              {failure ? (
                <Status tone="bad">
                  {kindName(failure.kind)} {failure.status}
                </Status>
              ) : (
                <Status tone="good">answered</Status>
              )}
              {start !== undefined && end !== undefined && <span class="muted number">{duration(end - start)}</span>}
            </>
          }
        >
          {start !== undefined && end !== undefined && (
            <Span from={share(start)} to={share(end)} tone={failure ? 'bad' : 'good'} />
          )}
        </Step>
      ))}
      {first_token_ms !== undefined && (
        <Step at={first_token_ms} title="First token">
          <Span from={share(first_token_ms)} to={share(first_token_ms)} tone="off" />
        </Step>
      )}
      <Step
        at={duration_ms}
        title={
          <>
            <ResultStatus event={event} />
            {event.outcome && event.outcome !== 'complete' && event.error_code === undefined ? null : (
              <span class="muted">
                {event.outcome ? words(event.outcome) : calls.length === 0 ? 'no provider was called' : ''}
              </span>
            )}
          </>
        }
      />
    </ol>
  )
}

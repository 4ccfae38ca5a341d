import { Code, count, duration, Facts, linkTo, Loaded, NONE, Notice, time, usd, useData, words } from '@turnpike/ui'
import type { BalancerAnswer, RequestEvent } from './answers.js'
import { Candidates } from './choices.js'
import { curlOf } from './curl.js'
import { read } from './api.js'
import { isFailed, whyFailed } from './failures.js'

/** The model that answered, else the one that was asked for. */
export const modelOf = ({ provider, model, requested_model }: RequestEvent): string =>
  model === undefined ? (requested_model ?? NONE) : `${provider}/${model}`

export const costOf = ({ cost_usd, unpriced }: RequestEvent): string =>
  cost_usd === undefined ? NONE : unpriced ? 'unknown' : usd(cost_usd)

/** Everything that is known of one request, and why it went as it went. */
export function RequestDetail({ event }: { event: RequestEvent }) {
  const choice = useData(
    async (signal) =>
      (await read<BalancerAnswer>('balancer', signal)).choices.find(
        ({ request_id }) => request_id === event.request_id,
      ) ?? null,
    [event.request_id],
  )
  return (
    <>
      {isFailed(event) && (
        <Notice tone={event.outcome === 'client_abort' ? 'warn' : 'bad'}>
          <p>
            <strong>
              {event.status} {words(event.error_code ?? event.outcome ?? '')}
            </strong>
          </p>
          <p>{whyFailed(event)}</p>
        </Notice>
      )}
      {event.failed_calls !== undefined && (
        <Notice tone="warn">
          <p>Calls of providers that failed{isFailed(event) ? '' : ' before another answered'}:</p>
          {event.failed_calls.split(', ').map((call) => (
            <p class="mono small break">{call}</p>
          ))}
        </Notice>
      )}
      <Facts
        facts={[
          ['Request', `${event.method} ${event.route}`],
          ['Time', time(event.time)],
          ['Model asked for', event.requested_model],
          ['Answered by', event.model !== undefined && modelOf(event)],
          ['Streamed', event.stream && 'yes'],
          ['Outcome', event.outcome && words(event.outcome)],
          ['Duration', duration(event.duration_ms)],
          ['First token', event.first_token_ms !== undefined && duration(event.first_token_ms)],
          ['Calls of providers', event.attempts],
          [
            'Tokens',
            event.prompt_tokens !== undefined &&
              `${count(event.prompt_tokens)} in, ${count(event.completion_tokens ?? 0)} out`,
          ],
          ['Cost', event.cost_usd !== undefined && costOf(event)],
          [
            'User',
            event.user_id !== undefined && (
              <a href={linkTo('/admin/usage', { by: 'user', id: event.user_id })}>{event.user_id}</a>
            ),
          ],
          [
            'Key',
            event.key_id !== undefined && (
              <a href={linkTo('/admin/usage', { by: 'key', id: event.key_id })}>{event.key_id}</a>
            ),
          ],
          ['X-Request-ID', <span class="mono">{event.request_id}</span>],
        ]}
      />
      <Loaded data={choice}>
        {(found) =>
          found ? (
            <section class="stack">
              <h3>Why {found.served?.provider ?? 'no provider'} answered</h3>
              <Candidates choice={found} served={found.served} />
            </section>
          ) : (
            event.model !== undefined && (
              <p class="small muted">
                No other provider could serve it, or it is not among the last 100 choices that are kept.
              </p>
            )
          )
        }
      </Loaded>
      {event.task === 'chat' && (
        <p>
          <a href={linkTo('/admin/routing', { model: event.requested_model })}>
            Simulate the routing of {event.requested_model}
          </a>
        </p>
      )}
      <Code text={curlOf(event)} label="The request as a curl command" />
      <p class="small muted">The gateway keeps no prompts; put your own in.</p>
    </>
  )
}

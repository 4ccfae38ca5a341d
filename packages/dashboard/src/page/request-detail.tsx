import {
  Code,
  CopyValue,
  count,
  Dialog,
  duration,
  Facts,
  linkTo,
  Loaded,
  Notice,
  setQuery,
  time,
  useData,
} from '@turnpike/ui'
import type { PlatformError } from '@turnpike/client'
import { useEffect, useRef } from 'preact/hooks'
import type { BalancerAnswer, RequestEvent } from './answers.js'
import { read } from './api.js'
import { curlOf } from './curl.js'
import { whyFailed } from './failures.js'
import type { Names } from './names.js'
import { resultOf } from './outcomes.js'
import { costOf, modelOf, nameOf, ResultStatus } from './request-columns.js'
import { Timeline } from './timeline.js'

/** A name with its id to copy, and the other requests that have it. */
const Named = ({ field, id, name }: { field: 'user' | 'key' | 'project'; id: string; name: string }) => (
  <>
    <a href={linkTo('/admin/requests', { [field]: id })}>{name}</a> <CopyValue label={`${field} id`} text={id} />
  </>
)

/** A link that finds a request, also where its user's usage has to be read for that. */
const linkOf = ({ request_id: id, user_id: user }: RequestEvent): string =>
  new URL(linkTo('/admin/requests', { id, user }), location.href).href

/** Everything that is known of one request, and why it went as it went. */
function RequestDetail({ event, names }: { event: RequestEvent; names: Names }) {
  const choices = useData(
    async (signal) =>
      (await read<BalancerAnswer>('balancer', signal)).choices.find(
        ({ request_id }) => request_id === event.request_id,
      ) ?? null,
    [event.request_id],
  )
  const result = resultOf(event)
  const { user_id: user, key_id: key, project_id: project, prompt_tokens: tokens, requested_model: asked } = event
  return (
    <>
      {result !== 'ok' && (
        <Notice tone={result === 'failed' ? 'bad' : 'warn'}>
          <p>{whyFailed(event)}</p>
        </Notice>
      )}
      <section class="stack">
        <h3>What happened</h3>
        <Timeline event={event} choice={choices.value ?? undefined} />
      </section>
      <section class="stack">
        <h3>Details</h3>
        <Facts
          facts={[
            ['Request id', <CopyValue label="request id" text={event.request_id} />],
            ['Time', <CopyValue label="time" text={event.time} shown={time(event.time, new Date(0))} />],
            ['Link', <CopyValue label="link" text={linkOf(event)} shown="to this request" />],
            ['Route', `${event.method} ${event.route}`],
            ['Asked for', asked !== undefined && <CopyValue label="model asked for" text={asked} />],
            [
              'Answered by',
              event.model !== undefined && result === 'ok' && <CopyValue label="model" text={modelOf(event)} />,
            ],
            ['User', user !== undefined && <Named field="user" id={user} name={names.user(user)} />],
            ['Key', key !== undefined && <Named field="key" id={key} name={names.key(key)} />],
            ['Project', project !== undefined && <Named field="project" id={project} name={names.project(project)} />],
            ['Duration', `${duration(event.duration_ms)}${event.stream ? ', streamed' : ''}`],
            ['Tokens', tokens !== undefined && `${count(tokens)} in, ${count(event.completion_tokens ?? 0)} out`],
            ['Cost', event.cost_usd !== undefined && costOf(event)],
            ['Wrong field', event.error_field !== undefined && <span class="mono">{event.error_field}</span>],
          ]}
        />
      </section>
      <section class="stack">
        <h3>Send it again</h3>
        <Code text={curlOf(event)} label="The request as a curl command" />
        <p class="small muted">
          The gateway keeps no prompts; put your own in.{' '}
          {event.task === 'chat' && (
            <a href={linkTo('/admin/routing', { model: asked ?? event.model })}>Simulate its routing</a>
          )}
        </p>
      </section>
    </>
  )
}

/** A request that the page does not have: one of the failed ones in the store. */
function StoredDetail({ id, names }: { id: string; names: Names }) {
  const stored = useData(
    (signal) =>
      read<RequestEvent>(`failed-requests/${encodeURIComponent(id)}`, signal).catch((error: PlatformError) => {
        if (error.status === 404) return null
        throw error
      }),
    [id],
  )
  return (
    <Loaded data={stored}>
      {(event) =>
        event ? (
          <RequestDetail event={event} names={names} />
        ) : (
          <p>
            It is not among the last requests, nor among those that failed in the last seven days. If it succeeded,
            “Load older” finds it in the usage of its user. The server’s log has it under its id.
          </p>
        )
      }
    </Loaded>
  )
}

/** What goes to the request before (-1) or after (1) the open one. */
const keys: Record<string, number> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }

/**
 * A request at the side of the list, with the one before and after it in the list.
 * @param among where it is sought
 * @param order the list as it is shown
 */
export function RequestDrawer({
  id,
  among,
  order,
  names,
}: {
  id: string
  among: readonly RequestEvent[]
  order: { current: readonly RequestEvent[] }
  names: Names
}) {
  // Kept while it is open, also when thousands of others have ended since.
  const open = useRef<RequestEvent | undefined>(undefined)
  if (open.current?.request_id !== id) open.current = among.find(({ request_id }) => request_id === id)
  const at = order.current.findIndex(({ request_id }) => request_id === id)
  const go = (step: number): void => {
    const now = order.current.findIndex(({ request_id }) => request_id === id)
    const next = now < 0 ? undefined : order.current[now + step]
    if (next) setQuery({ id: next.request_id })
  }
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const step = keys[event.key]
      const isOther = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey
      const isTyped = event.target instanceof Element && event.target.matches('input, select, textarea, pre, .scroll')
      if (step === undefined || isOther || isTyped) return
      event.preventDefault()
      go(step)
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [id])
  const event = open.current
  return (
    <Dialog
      title={
        event ? (
          <>
            <ResultStatus event={event} /> · {nameOf(event)}
          </>
        ) : (
          `Request ${id}`
        )
      }
      form="drawer"
      actions={
        <>
          <button
            type="button"
            class="quiet"
            title="k"
            aria-label="Newer request"
            aria-disabled={at <= 0}
            onClick={() => go(-1)}
          >
            ↑
          </button>
          <button
            type="button"
            class="quiet"
            title="j"
            aria-label="Older request"
            aria-disabled={at < 0 || at >= order.current.length - 1}
            onClick={() => go(1)}
          >
            ↓
          </button>
        </>
      }
      onClose={() => setQuery({ id: undefined })}
    >
      {event ? <RequestDetail event={event} names={names} /> : <StoredDetail id={id} names={names} />}
    </Dialog>
  )
}

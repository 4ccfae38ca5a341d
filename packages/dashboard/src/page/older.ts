import { useEffect, useRef, useState } from 'preact/hooks'
import type { RequestEvent, UsageRow } from './answers.js'
import { read, send } from './api.js'
import type { Source } from './merge.js'
import { mergeOf } from './merge.js'
import type { GatewaySchemas } from '@turnpike/client'

/** Rows of one page of a list. */
const PAGE = 100
/** Most users whose records are read where none is chosen: those with the most requests. */
const USERS = 20
const HOURS = 720

type UsageEntry = GatewaySchemas['UserUsageSummary']['records'][number]

const routes: Record<string, string> = {
  chat: '/v1/chat/completions',
  embeddings: '/v1/embeddings',
  images: '/v1/images/generations',
  speech: '/v1/audio/speech',
  transcription: '/v1/audio/transcriptions',
}

/** The event of a usage record, as far as that has it. */
const eventOf = (user_id: string, entry: UsageEntry): RequestEvent => ({
  request_id: entry.request_id,
  time: entry.timestamp,
  method: 'POST',
  route: routes[entry.task] ?? entry.task,
  status: 200,
  duration_ms: entry.latency_ms,
  user_id,
  ...(entry.key_id && { key_id: entry.key_id }),
  ...(entry.project_id && { project_id: entry.project_id }),
  task: entry.task,
  provider: entry.provider,
  model: entry.model,
  stream: entry.first_token_ms !== null,
  outcome: entry.outcome,
  attempts: entry.attempts,
  prompt_tokens: entry.prompt_tokens,
  completion_tokens: entry.completion_tokens,
  cost_usd: entry.cost_usd,
  ...(!entry.priced && { unpriced: true }),
  ...(entry.first_token_ms !== null && { first_token_ms: entry.first_token_ms }),
})

const after = (next: string | undefined): string => (next === undefined ? '' : `&after=${encodeURIComponent(next)}`)

/** The failed requests that the store keeps. @param until before when, in ISO 8601; '' = now */
const failed =
  (until: string, signal: AbortSignal): Source<RequestEvent> =>
  async (next) => {
    const from = until === '' ? '' : `&before=${encodeURIComponent(until)}`
    const page = await read<GatewaySchemas['FailedRequests']>(
      `failed-requests?limit=${PAGE}${from}${after(next)}`,
      signal,
    )
    return { rows: page.data, next: page.next }
  }

const recordsOf =
  (user: string, signal: AbortSignal): Source<RequestEvent> =>
  async (next) => {
    const response = await send(`v1/users/${encodeURIComponent(user)}/usage?limit=${PAGE}${after(next)}`, { signal })
    const page = (await response.json()) as GatewaySchemas['UserUsageSummary']
    return { rows: page.records.map((entry) => eventOf(user, entry)), next: page.next }
  }

/** The users with the most requests of the last 30 days. */
async function busiest(signal: AbortSignal): Promise<string[]> {
  const { data } = await read<{ data: UsageRow[] }>(`usage?by=user&hours=${HOURS}&limit=${PAGE}`, signal)
  return data
    .toSorted((a, b) => b.requests - a.requests)
    .slice(0, USERS)
    .map(({ id }) => id)
}

/** Requests from the store. */
export interface Older {
  rows: readonly RequestEvent[]
  /** Whether there are, or may be, more. */
  more: boolean
  reading: boolean
  error: unknown
  load: () => void
}

const nothing: Omit<Older, 'load'> = { rows: [], more: true, reading: false, error: undefined }

/**
 * Reads requests that the page has not followed: failed ones of the last seven days, and those with a usage record, of one user or of the twenty
 * with the most requests.
 * @param user whose; '' = all
 * @param until failed ones before when, in ISO 8601; '' = now
 */
export function useOlder(user: string, until: string): Older {
  const [state, setState] = useState(nothing)
  const run = useRef<{ leave: AbortController; merge?: ReturnType<typeof mergeOf<RequestEvent>> } | undefined>(
    undefined,
  )
  useEffect(() => {
    const leave = new AbortController()
    run.current = { leave }
    setState(nothing)
    return () => leave.abort()
  }, [user, until])
  const load = async (): Promise<void> => {
    const current = run.current!
    const { signal } = current.leave
    setState((state) => ({ ...state, reading: true, error: undefined }))
    try {
      if (!current.merge) {
        const users = user === '' ? await busiest(signal) : [user]
        const sources = [failed(until, signal), ...users.map((id) => recordsOf(id, signal))]
        current.merge = mergeOf(sources, ({ time }) => time, PAGE)
      }
      const found = await current.merge.more()
      if (!signal.aborted) setState({ ...found, reading: false, error: undefined })
    } catch (error) {
      if (!signal.aborted) setState((state) => ({ ...state, reading: false, error }))
    }
  }
  return { ...state, load: () => void (state.reading || load()) }
}

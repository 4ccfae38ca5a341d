import type { Signal } from '@preact/signals'
import { signal } from '@preact/signals'
import { turnpike, whenSignedOut } from '../turnpike.js'
import type { Answer, Explanation } from './answer.js'
import { explanationIn, nothing, withPiece } from './answer.js'
import type { Body } from './request.js'

/** Milliseconds between two changes of an answer: tokens come faster than a page with a long text can be laid out. */
const SHOW_MS = 50

export interface Usage {
  prompt_tokens: number
  completion_tokens: number
  /** US dollars. */
  cost: number
  /** Whether the price is known. */
  priced: boolean
}

/** One request, and what came of it so far. */
export interface Run {
  state: 'running' | 'done' | 'stopped' | 'failed'
  body: Body
  answer: Answer
  finish: string | undefined
  explanation: Explanation | undefined
  /** Milliseconds until the first text, thought or call; undefined until then, and of an answer that is not streamed. */
  firstMs: number | undefined
  /** Milliseconds until the end. */
  totalMs: number | undefined
  usage: Usage | undefined
  error: unknown
}

const path = '/api/gateway/v1/chat/completions'
const runs = new Map<string, Signal<Run | undefined>>()
const stops = new Map<string, AbortController>()

/** The last run of a column. It goes on while another page is shown. */
export function runOf(columnId: string): Signal<Run | undefined> {
  const known = runs.get(columnId)
  if (known) return known
  const made = signal<Run | undefined>(undefined)
  runs.set(columnId, made)
  return made
}

export const isRunning = (columnId: string): boolean => runOf(columnId).value?.state === 'running'

export const stop = (columnId: string): void => stops.get(columnId)?.abort()

/** Stops the run of a column, and forgets it. */
export function forget(columnId: string): void {
  stop(columnId)
  runOf(columnId).value = undefined
}

whenSignedOut(() => {
  for (const id of runs.keys()) forget(id)
})

/** Asks a model, and shows its answer in a column. */
export async function start(columnId: string, body: Body): Promise<void> {
  const shown = runOf(columnId)
  const leaving = new AbortController()
  stops.set(columnId, leaving)
  const began = performance.now()
  let run: Run = {
    state: 'running',
    body,
    answer: nothing,
    finish: undefined,
    explanation: undefined,
    firstMs: undefined,
    totalMs: undefined,
    usage: undefined,
    error: undefined,
  }
  shown.value = run
  let timer: ReturnType<typeof setTimeout> | undefined
  const change = (changes: Partial<Run>): void => {
    run = { ...run, ...changes }
    timer ??= setTimeout(() => {
      timer = undefined
      if (!leaving.signal.aborted) shown.value = run
    }, SHOW_MS)
  }
  const options = {
    body,
    signal: leaving.signal,
    headers: { 'X-Gateway-Explain': 'true' },
    onResponse: ({ headers }: Response) => change({ explanation: explanationIn(headers) }),
  }
  let ended: Partial<Run>
  try {
    if (body.stream)
      for await (const { choices, usage } of turnpike.stream(path, options)) {
        const [choice] = choices
        const answer = choice ? withPiece(run.answer, choice.delta) : run.answer
        change({
          answer,
          finish: choice?.finish_reason ?? run.finish,
          usage: (usage as Usage | null | undefined) ?? run.usage,
          ...(answer !== run.answer && { firstMs: run.firstMs ?? performance.now() - began }),
        })
      }
    else {
      const { choices, usage } = await turnpike.post(path, options)
      const { message, finish_reason: finish } = choices[0]!
      change({ answer: withPiece(nothing, message), finish, usage: usage as unknown as Usage })
    }
    ended = { state: 'done' }
  } catch (error) {
    ended = leaving.signal.aborted ? { state: 'stopped' } : { state: 'failed', error }
  }
  clearTimeout(timer)
  // Meanwhile another run may have begun, or the column may be empty again.
  if (stops.get(columnId) !== leaving || shown.value === undefined) return
  shown.value = { ...run, ...ended, totalMs: performance.now() - began }
}

/** Tokens that came in a second, from the first one on; undefined where that cannot be told. */
export function rateOf({ usage, firstMs = 0, totalMs }: Run): number | undefined {
  if (!usage || totalMs === undefined) return undefined
  const seconds = (totalMs - firstMs) / 1_000
  // What came at once was not generated as fast as that.
  return seconds < 0.05 || usage.completion_tokens < 2 ? undefined : usage.completion_tokens / seconds
}

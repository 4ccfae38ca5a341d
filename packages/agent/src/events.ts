import type { Schemas } from '@turnpike/client'
import type { Call } from './tools.js'

/** A task as the platform answers it. */
export type Task = Schemas['Task']

/** How work on a task ended. Only the first four are stored, and only by the one who holds the task. */
export type Outcome =
  /** It has its output. */
  | { status: 'done'; task: Task }
  /** Its draft waits for a person. */
  | { status: 'waiting_approval'; task: Task }
  /** Its draft ends with the reason, a sentence for people. */
  | { status: 'failed'; task: Task; reason: string }
  /** Given back, because the signal aborted. */
  | { status: 'scheduled'; task: Task }
  /** Somebody else has changed it meanwhile, another worker or a person: nothing of it was stored afterwards. */
  | { status: 'taken' }
  /** It was deleted meanwhile, or its project. */
  | { status: 'deleted' }
  /** The platform could not be reached, or refused the token: others take the task up when the lease is over. */
  | { status: 'lost'; reason: string }

/** What happens while an agent works, for those who watch. */
export type AgentEvent =
  /** The model is asked: text and thinking of the same answer follow. After `retry`, what came before is void. */
  | { type: 'step'; agent: string; model: string }
  | { type: 'thinking'; text: string }
  | { type: 'text'; text: string }
  /** A request that failed is sent again after so many seconds. */
  | { type: 'retry'; reason: string; seconds: number }
  /** The model asks for a call, whose arguments are right; `approve` is asked next. */
  | ({ type: 'call' } & Call)
  | { type: 'allowed'; id: string }
  /** Not run: by `approve`, or because there is no such tool or its arguments are wrong. */
  | { type: 'refused'; id: string; name: string; reason: string }
  /** What a call gave, or why it failed, as the model is told. */
  | { type: 'result'; id: string; text: string; failed: boolean }
  /** What the task has used since it last got an output, in tokens and US dollars. */
  | { type: 'cost'; requests: number; tokens: number; dollars: number }
  /** The task as it is stored now, with its draft. */
  | { type: 'stored'; task: Task }
  | ({ type: 'end' } & Outcome)

/** The same listener, whose failure ends nothing: what it throws, or rejects with where it is an async function, is ignored. */
export const unfailing =
  <Args extends unknown[]>(listener: ((...args: Args) => unknown) | undefined) =>
  (...args: Args): void =>
    void (async () => listener?.(...args))().catch(() => undefined)

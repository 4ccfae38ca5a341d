import type { AgentEvent, Outcome, Task } from '@turnpike/agent'

/** Most parts of a run that are kept, each of which is shown: a model that sends more would have the page stand still. */
export const MOST_PARTS = 500

/** A call of a tool, and how far it is. */
export interface CallPart {
  type: 'call'
  id: string
  name: string
  args?: unknown
  /** What it is about, where the arguments do not say so. */
  about?: string
  state: 'asked' | 'running' | 'done' | 'failed' | 'refused'
  /** What it gave, or why it was refused or failed. */
  result?: string
}

/** A part of what an agent did. */
export type Part = { type: 'thinking' | 'text'; text: string } | CallPart

/** What is answered to a call: yes, yes to all calls of that tool in this run, or no. */
export type Answer = 'allow' | 'always' | 'refuse'

/** An agent that works on a task in this page, or has done so. */
export interface Run {
  model: string
  /** The last ones. */
  parts: readonly Part[]
  /** How many parts came before these. */
  gone: number
  /** How many of the parts there were before the model was asked last: those behind them are void where it is asked again. */
  kept: number
  /** Why the model is asked again. */
  retry?: string | undefined
  cost?: { tokens: number; dollars: number }
  /** The task as it was stored last. */
  task?: Task
  /** How it ended; absent while it runs. */
  outcome?: Outcome
  answer: (callId: string, answer: Answer) => void
  stop: () => void
}

/** The last call of an id, which a model may give to several. */
const lastCall = (parts: readonly Part[], id: string): CallPart | undefined =>
  parts.findLast((part): part is CallPart => part.type === 'call' && part.id === id)

/** Changes the last call of an id. */
export const setCall = (parts: readonly Part[], id: string, change: Partial<CallPart>): readonly Part[] => {
  const last = lastCall(parts, id)
  return parts.map((part) => (part === last ? { ...last, ...change } : part))
}

function changed(run: Run, event: AgentEvent): Run {
  const { parts } = run
  switch (event.type) {
    case 'step':
      return { ...run, kept: parts.length, retry: undefined }
    case 'retry':
      return { ...run, parts: parts.slice(0, run.kept), retry: event.reason }
    case 'thinking':
    case 'text': {
      const last = parts.at(-1)
      const goesOn = last?.type === event.type && parts.length > run.kept
      const text = goesOn ? last.text + event.text : event.text
      return { ...run, parts: [...(goesOn ? parts.slice(0, -1) : parts), { type: event.type, text }] }
    }
    case 'call': {
      const { id, name, args } = event
      return { ...run, parts: [...parts, { type: 'call', id, name, args, state: 'asked' }] }
    }
    case 'allowed':
      return { ...run, parts: setCall(parts, event.id, { state: 'running' }) }
    case 'refused': {
      const { id, name, reason: result } = event
      const isShown = lastCall(parts, id)?.state === 'asked'
      const refused = { state: 'refused', result } as const
      return {
        ...run,
        parts: isShown ? setCall(parts, id, refused) : [...parts, { type: 'call', id, name, ...refused }],
      }
    }
    case 'result':
      return {
        ...run,
        parts: setCall(parts, event.id, { state: event.failed ? 'failed' : 'done', result: event.text }),
      }
    case 'cost':
      return { ...run, cost: { tokens: event.tokens, dollars: event.dollars } }
    case 'stored':
      return { ...run, task: event.task }
    case 'end':
      return { ...run, outcome: event, ...('task' in event && { task: event.task }) }
  }
}

/** What is shown of a run after an event. */
export function after(run: Run, event: AgentEvent): Run {
  const next = changed(run, event)
  const more = next.parts.length - MOST_PARTS
  if (more <= 0) return next
  return { ...next, parts: next.parts.slice(more), gone: next.gone + more, kept: Math.max(0, next.kept - more) }
}

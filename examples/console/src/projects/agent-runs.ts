import { signal } from '@preact/signals'
import type { AgentEvent, Outcome } from '@turnpike/agent'
import { runTask } from '@turnpike/agent'
import { turnpike, whenSignedOut } from '../turnpike.js'
import { agentTools } from './agent-tools.js'
import type { Task } from './tasks.js'

/** A call of a tool, and how far it is. */
export interface CallPart {
  type: 'call'
  id: string
  name: string
  args?: unknown
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
  parts: readonly Part[]
  /** How many parts there were before the model was asked last: those behind them are void where it is asked again. */
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

/** The runs of this page, by the task. They go on where its drawer is closed. */
export const runs = signal<Readonly<Record<string, Run>>>({})
whenSignedOut(() => {
  for (const run of Object.values(runs.value)) run.stop()
  runs.value = {}
})

const setCall = (parts: readonly Part[], id: string, change: Partial<CallPart>): readonly Part[] =>
  parts.map((part) => (part.type === 'call' && part.id === id ? { ...part, ...change } : part))

/** What is shown of a run after an event. */
function after(run: Run, event: AgentEvent): Run {
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
      const isShown = parts.some((part) => part.type === 'call' && part.id === id)
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

/**
 * Has an agent work on a task in this page, with the user's files for its tools. Each call of these waits for an answer.
 * @throws PlatformError where the task could not be claimed
 */
export async function startRun(task: Task, model: string): Promise<void> {
  const abort = new AbortController()
  const always = new Set<string>()
  const waiting = new Map<string, (answer: Answer) => void>()
  const answer = (id: string, given: Answer): void => waiting.get(id)?.(given)
  let run: Run = { model, parts: [], kept: 0, answer, stop: () => abort.abort() }
  const show = (next: Run): void => {
    run = next
    runs.value = { ...runs.value, [task.id]: run }
  }
  try {
    await runTask({
      client: turnpike,
      task,
      model,
      tools: agentTools,
      async approve({ id, name }) {
        if (always.has(name)) return true
        const given = await new Promise<Answer>((resolve) => waiting.set(id, resolve))
        waiting.delete(id)
        if (given === 'always') always.add(name)
        return given !== 'refuse'
      },
      signal: abort.signal,
      onEvent: (event) => show(after(run, event)),
    })
  } catch (error) {
    const { [task.id]: _, ...others } = runs.value
    runs.value = others
    throw error
  }
}

import type { Client } from '@turnpike/client'
import { PlatformError } from '@turnpike/client'
import { AgentError } from './agent-error.js'
import type { AgentEvent } from './events.js'
import type { Approve, Tool } from './tools.js'
import { argumentsOf, definitionOf, resultOf } from './tools.js'
import type { Answer, Message, ToolCall } from './turn.js'
import { ask } from './turn.js'
import { pause, unlessAborted, within } from './within.js'

/** Options of {@link runLoop}. */
export interface LoopOptions {
  client: Client
  /** A model id or group of the gateway. */
  model: string
  /** The chat so far; what is said in the loop is appended to it. */
  messages: Message[]
  /** Who works, for the events; default `Agent`. */
  name?: string
  tools?: readonly Tool[]
  /** Default `never`. */
  approve?: Approve
  /** Requests to the model at most, without those that failed; default 30. */
  steps?: number
  /** Seconds at most, without those that `approve` took; default 900. */
  seconds?: number
  /** Headers of the requests to the model, such as `X-Project-ID`. */
  headers?: Record<string, string>
  signal?: AbortSignal
  onEvent?: (event: AgentEvent) => void
  /** Called before each request to the model and each call of a tool; what it throws ends the loop. */
  before?: (what: 'model' | 'tool') => Promise<void>
}

/** A request that failed is sent again so often, after one second, then two, then four. */
const RETRIES = 3
/** Calls of tools that one answer of a model may make. */
const CALLS = 100
/** Characters of a tool's result that the model is told: it is sent with each further request. */
const RESULT_LENGTH = 262_144
/** A longer `Retry-After`, in seconds, is that of a budget rather than of a busy minute. */
const LONGEST_WAIT = 120

/** Errors of the network have no status. */
const NO_ANSWER = { status: 502, retryAfter: undefined, code: undefined }

/** Seconds after which a request that failed is sent again; undefined if it is not. */
function waitAfter(error: unknown, failures: number): number | undefined {
  if (error instanceof AgentError) return undefined
  const { status, retryAfter, code } = error instanceof PlatformError ? error : NO_ANSWER
  // Nothing was done: it is no failure.
  if (retryAfter !== undefined && (status === 429 || status === 503))
    return retryAfter <= LONGEST_WAIT ? Math.max(1, retryAfter) : undefined
  const mayPass = status >= 500 || (status === 200 && code !== 'content_filter')
  return mayPass && failures < RETRIES ? 2 ** failures : undefined
}

/** The result of a tool as the model is told it. */
const toldOf = (text: string): string =>
  text.length > RESULT_LENGTH
    ? `${text.slice(0, RESULT_LENGTH)}\n[${text.length - RESULT_LENGTH} more characters]`
    : text

/** Why an answer is no result. */
const unusable: Record<string, string> = {
  length: 'The answer is longer than the model may write',
  content_filter: 'The provider withheld the answer',
}

/**
 * Asks a model, runs the tools that it calls, and asks again until it answers without a call. Refused calls, unknown tools, wrong arguments and
 * errors of tools are told to the model.
 * @returns the text of the last answer
 * @throws AgentError when a limit is reached, two tools have one name or the answer is no result; PlatformError; the reason of the signal; what `before` throws
 * @example const text = await runLoop({ client, model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] })
 */
export async function runLoop(options: LoopOptions): Promise<string> {
  const { client, model, messages, name = 'Agent', tools = [], approve = 'never', headers = {}, before } = options
  const { signal = new AbortController().signal, onEvent = () => undefined, steps = 30, seconds = 900 } = options
  const byName = new Map<string, Tool>()
  for (const tool of tools) {
    // A call that was approved by its name must not get to another tool.
    if (byName.has(tool.name)) throw new AgentError(`Two tools have the name ${tool.name}`)
    byName.set(tool.name, tool)
  }
  const definitions = tools.map(definitionOf)
  let left = seconds * 1_000
  /** Runs what counts in the seconds. */
  const timed = async <T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const begun = performance.now()
    try {
      return await within(left, () => new AgentError(`It took longer than ${seconds} seconds`), signal, run)
    } finally {
      left -= performance.now() - begun
    }
  }

  const answered = async (): Promise<Answer> => {
    for (let failures = 0; ;) {
      await before?.('model')
      onEvent({ type: 'step', agent: name, model })
      try {
        const body = { model, messages, ...(definitions.length > 0 && { tools: definitions }) } as never
        return await timed((signal) => ask(client, body, { headers, signal, onEvent }))
      } catch (error) {
        signal.throwIfAborted()
        const wait = waitAfter(error, failures)
        if (wait === undefined) throw error
        if (!(error instanceof PlatformError && error.retryAfter !== undefined)) failures++
        onEvent({ type: 'retry', reason: (error as Error).message, seconds: wait })
        await timed((signal) => pause(wait * 1_000, signal))
      }
    }
  }

  /** What the model is told of a call. @param index which of its answer it is */
  const callOf = async ({ id, function: { name, arguments: json } }: ToolCall, index: number): Promise<string> => {
    const refused = (reason: string): string => {
      onEvent({ type: 'refused', id, name, reason })
      return reason
    }
    if (index >= CALLS) return refused(`An answer may make ${CALLS} calls`)
    const tool = byName.get(name)
    if (!tool) return refused(`There is no tool ${name}`)
    let args: unknown
    try {
      args = await argumentsOf(tool, json)
    } catch (error) {
      return refused((error as Error).message)
    }
    onEvent({ type: 'call', id, name, args })
    const answer =
      typeof approve === 'function'
        ? await unlessAborted(signal, async () => approve({ id, name, args }, { signal }))
        : approve === 'always'
    if (answer !== true) return refused(`This call was refused${answer ? `: ${answer}` : ''}`)
    await before?.('tool')
    onEvent({ type: 'allowed', id })
    let text: string
    let failed = false
    try {
      text = toldOf(await timed((signal) => resultOf(tool, args as never, signal)))
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof AgentError) throw error
      failed = true
      text = toldOf(`It failed: ${error instanceof Error ? error.message : String(error)}`)
    }
    onEvent({ type: 'result', id, text, failed })
    return text
  }

  for (let step = 0; step < steps; step++) {
    const { message, text, calls, finish } = await answered()
    if (finish !== null && Object.hasOwn(unusable, finish)) throw new AgentError(unusable[finish]!)
    messages.push(message)
    if (calls.length === 0) {
      if (text.trim() === '') throw new AgentError('The model ended without a text')
      return text
    }
    for (const [index, call] of calls.entries())
      messages.push({ role: 'tool', tool_call_id: call.id, content: await callOf(call, index) } as Message)
  }
  throw new AgentError(`It took more than ${steps} steps`)
}

import type { ChatDelta, ChunkChoice, ChunkHead, FinishReason, ToolCallDelta, Usage } from '@turnpike/core'
import { malformed, truncated } from './failures.js'
import { parseJson } from './json.js'

/** 24 random letters and digits. */
export const randomText = (): string => crypto.randomUUID().replaceAll('-', '').slice(8)

/** An id for a tool call whose upstream gave none: 29 characters, because OpenAI refuses ids over 40 in a history. */
export const newToolCallId = (): string => `call_${randomText()}`

/** An id for an answer whose upstream gave none. */
export const newCompletionId = (): string => `chatcmpl-${randomText()}`

/** What `created` of an answer says. */
export const secondsNow = (): number => Math.floor(Date.now() / 1000)

/** Why a choice ended, told by whether it called tools: some upstreams say "stop" after a call, and nobody can act on calls that are not there. */
export const finishOf = (given: FinishReason, called: boolean): FinishReason => {
  if (given === 'stop' && called) return 'tool_calls'
  return given === 'tool_calls' && !called ? 'stop' : given
}

/** Tool arguments as the client is to see them: JSON, with `{}` for none, unless the answer was cut off and they are as received. */
export function checkArguments(text: string, finish: FinishReason, provider: string): string {
  if (finish !== 'tool_calls') return text
  if (text === '') return '{}'
  if (parseJson(text) === undefined) throw malformed(provider, 'The arguments of a call are not JSON')
  return text
}

/** A tool call, of which only the arguments are still of interest. */
interface Tool {
  arguments: string
}

interface Choice {
  tools: Tool[]
  /** Whether any call was shown, also one that is not counted here. */
  called: boolean
  /** Set once the upstream gave a reason; sent when the stream is whole, so that nothing follows it. */
  finish?: { reason: FinishReason; extra: object }
}

function isEmpty(delta: ChatDelta): boolean {
  for (const _ in delta) return false
  return true
}

/**
 * Makes the chunks of one stream in the form that OpenAI's clients rely on: one head, the role once, tool calls counted from 0,
 * one finish per choice after everything else of it. `end` is where a stream proves that it is whole.
 */
export interface ChunkBuilder {
  /** What every chunk has alike. */
  head(): ChunkHead
  /** The last report of usage. */
  usage(): Usage | undefined
  /** Sets the head; the first call counts. */
  begin(head: Partial<ChunkHead>): void
  /** Adds a choice as the upstream made it, without tool calls and without a finish; the builder keeps it and sees to its role. */
  relay(choice: ChunkChoice): void
  /** Adds a delta without tool calls; `extra` are further fields of the choice, such as logprobs. */
  delta(choice: number, delta: ChatDelta, extra?: object): void
  /** Begins a tool call; `extra` are further fields of its first entry. @returns its index */
  tool(choice: number, call: { id?: string | undefined; name: string; extra?: object }): number
  /** Adds to the arguments of a tool call. */
  toolArguments(choice: number, tool: number, fragment: string): void
  /** Notes why a choice ended. */
  finish(choice: number, reason: FinishReason, extra?: object): void
  /** Notes the usage so far; the last report counts. */
  report(usage: Usage): void
  /** What has been added since the last call. */
  take(): ChunkChoice[]
  /** The finish of every choice, after what has been added. @throws UpstreamError `truncated` where a choice has no finish */
  end(): ChunkChoice[]
}

/** Builds the OpenAI chunks of one stream. */
export function chunkBuilder(provider: string): ChunkBuilder {
  const choices = new Map<number, Choice>()
  let head: ChunkHead | undefined
  const added: ChunkChoice[] = []
  let usage: Usage | undefined

  const begin = ({ id, created, model = '', ...rest }: Partial<ChunkHead>): ChunkHead =>
    (head ??= {
      id: id || newCompletionId(),
      created: created || secondsNow(),
      model,
      ...rest,
      object: 'chat.completion.chunk',
    })

  /** The first delta of a choice, with what clients expect of it. */
  const first = (index: number, delta: ChatDelta): ChatDelta => {
    choices.set(index, { tools: [], called: false })
    const whole: ChatDelta = { role: 'assistant', content: null, ...delta }
    whole.role = 'assistant'
    whole.content ??= whole.tool_calls ? null : ''
    return whole
  }

  const relay: ChunkBuilder['relay'] = (choice) => {
    const { index, delta } = choice
    if (!choices.has(index)) choice.delta = first(index, delta)
    else {
      if (delta.role !== undefined) delete delta.role
      if (isEmpty(delta)) return
    }
    if (delta.tool_calls) choices.get(index)!.called = true
    added.push(choice)
  }

  const addDelta: ChunkBuilder['delta'] = (index, delta, extra) => {
    // A spread in the midst of a literal costs more than all the rest of a chunk (docs/decisions/008); few have one.
    relay(extra ? { index, delta, ...extra, finish_reason: null } : { index, delta, finish_reason: null })
  }

  const addArguments: ChunkBuilder['toolArguments'] = (index, tool, fragment) => {
    if (fragment === '') return
    choices.get(index)!.tools[tool]!.arguments += fragment
    added.push({
      index,
      delta: { tool_calls: [{ index: tool, function: { arguments: fragment } }] },
      finish_reason: null,
    })
  }

  // Emptied, not replaced: see decodeStream.
  const take = (): ChunkChoice[] => added.splice(0)

  return {
    head: () => begin({}),
    usage: () => usage,
    begin,
    relay,
    delta: addDelta,
    tool(index, { id = newToolCallId(), name, extra }) {
      const position = choices.get(index)?.tools.length ?? 0
      const call: ToolCallDelta = { index: position, id, type: 'function', function: { name, arguments: '' }, ...extra }
      relay({ index, delta: { tool_calls: [call] }, finish_reason: null })
      choices.get(index)!.tools.push({ arguments: '' })
      return position
    },
    toolArguments: addArguments,
    finish(index, reason, extra = {}) {
      if (!choices.has(index)) addDelta(index, {})
      choices.get(index)!.finish = { reason, extra }
    },
    report(reported) {
      usage = reported
    },
    take,
    end() {
      const unfinished = choices.size === 0 || [...choices.values()].some(({ finish }) => !finish)
      if (unfinished) throw truncated(provider, 'The answer ended before it was whole')
      for (const [index, { tools, called, finish }] of choices) {
        const reason = finishOf(finish!.reason, called)
        const { extra } = finish!
        for (const [tool, state] of tools.entries()) {
          const whole = checkArguments(state.arguments, reason, provider)
          if (whole !== state.arguments) addArguments(index, tool, whole)
        }
        added.push({ index, delta: {}, ...extra, finish_reason: reason })
      }
      return take()
    },
  }
}

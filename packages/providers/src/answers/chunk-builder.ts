import type {
  ChatDelta,
  ChunkChoice,
  ChunkHead,
  FinishReason,
  ToolCallDelta,
  UpstreamError,
  Usage,
} from '@turnpike/core'
import { excess, jsonCount, jsonLength } from '@turnpike/core/helpers'
import { MAX_CHOICES } from '@turnpike/core/internal'
import { malformed, truncated } from '../refusals/failures.js'
import { asTexts, parseJson, textOf } from '../upstream/json.js'

/**
 * The index of a choice of a stream: as its upstream numbers it, or else its position in the chunk. A client may make a list by it, with room for all
 * before.
 * @throws UpstreamError where a chunk has more choices than a request may ask for: each becomes a chunk
 * @example const index = choiceIndex(provider, choice.index, position)
 */
export function choiceIndex(provider: string, given: unknown, position: number): number {
  if (position >= MAX_CHOICES) throw malformed(provider, `A chunk has more than ${MAX_CHOICES} choices`)
  return Number.isInteger(given) && (given as number) >= 0 && (given as number) < MAX_CHOICES
    ? (given as number)
    : position
}

/** 24 random hexadecimal digits. */
export const randomText = (): string => crypto.randomUUID().replaceAll('-', '').slice(8)

/**
 * Creates the id of a tool call whose upstream sent none. It has 29 characters: OpenAI rejects ids over 40 in a history.
 * @example const id = newToolCallId() // 'call_…'
 */
export const newToolCallId = (): string => `call_${randomText()}`

/**
 * Creates the id of an answer whose upstream sent none.
 * @example const id = newCompletionId() // 'chatcmpl-…'
 */
export const newCompletionId = (): string => `chatcmpl-${randomText()}`

/**
 * The current Unix time in seconds, for `created`.
 * @example const created = secondsNow()
 */
export const secondsNow = (): number => Math.floor(Date.now() / 1000)

/**
 * Makes a finish reason consistent with the tool calls: some upstreams report `stop` after a call, or `tool_calls` without one.
 * @example finishOf('stop', true) // 'tool_calls'
 */
export const finishOf = (given: FinishReason, called: boolean): FinishReason => {
  if (given === 'stop' && called) return 'tool_calls'
  return given === 'tool_calls' && !called ? 'stop' : given
}

/** Most characters of the JSON of what each chunk repeats: the id, the model and the time of the answer; and other fields, such as sources. */
const HEAD_LENGTH = 2048
const REPEATED = 64 * 1024

/** Fields as far as each chunk may repeat them: not the ids of all tokens of a prompt, as vLLM tells them in its first chunk. */
function repeated(fields: Record<string, unknown>): Record<string, unknown> {
  let left = REPEATED
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => (left -= jsonLength([name, value])) >= 0))
}

/** Characters that a call or a choice is reckoned with, besides those in it. */
const ENTRY = 64

/** Characters that each one of the JSON of a value is reckoned with: an empty object takes 56 bytes. */
const VALUE = 4

/** The code of an error in a tool call. A caller can ask a model for one, so it must not count against the provider's health. */
const BROKEN_CALL = 'broken_tool_call'

/** The error for a tool call without a name. */
export const unnamedCall = (provider: string): UpstreamError =>
  malformed(provider, 'A tool call has no name', undefined, BROKEN_CALL)

/**
 * Checks tool arguments; empty ones become `{}`. If the answer was cut off, they are returned as received.
 * @param count of the arguments of the whole answer
 * @throws UpstreamError if they are not JSON, or have more values together than those of a request may have
 * @example const text = checkArguments('{"city":"Rome"}', 'tool_calls', 'mine')
 */
export function checkArguments(text: string, finish: FinishReason, provider: string, count = jsonCount()): string {
  if (finish !== 'tool_calls') return text
  if (text === '') return '{}'
  const tooMuch = excess(text, Infinity, count)
  if (tooMuch) throw malformed(provider, `The JSON of the arguments of a call ${tooMuch}`, undefined, BROKEN_CALL)
  if (parseJson(text) === undefined)
    throw malformed(provider, 'The arguments of a call are not JSON', undefined, BROKEN_CALL)
  return text
}

/** A tool call that has begun. */
interface Tool {
  arguments: string
}

interface Choice {
  /** The calls by their index; undefined for those of custom tools, whose input is any text. */
  tools: (Tool | undefined)[]
  /** Whether any call was sent. */
  called: boolean
  /** Set when the upstream reports a finish reason; sent at the end of the stream, after everything else. */
  finish?: { reason: FinishReason | UpstreamError; extra: object }
}

function isEmpty(delta: ChatDelta): boolean {
  for (const _ in delta) return false
  return true
}

/**
 * Builds the chunks of one stream in the form that OpenAI clients rely on: one head, the role once, tool calls numbered from 0, and one
 * finish reason per choice, after everything else. `end` checks that the stream is complete.
 */
export interface ChunkBuilder {
  /** The fields common to all chunks. */
  head(): ChunkHead
  /** The last reported usage. */
  usage(): Usage | undefined
  /** Sets the head. Only the first call has an effect. */
  begin(head: Partial<ChunkHead>): void
  /** Adds a choice of the upstream without function calls and finish reason. The builder takes ownership, and normalizes its role and texts that are none. @returns whether there is something in it */
  relay(choice: ChunkChoice): boolean
  /** Adds a delta; `extra` are further fields of the choice, such as logprobs. @returns whether there is something in it */
  delta(choice: number, delta: ChatDelta, extra?: object): boolean
  /** Begins a tool call; `extra` are further fields of its first entry. @returns its index */
  tool(choice: number, call: { id?: string | undefined; name: string; extra?: object }): number
  /** Begins a call of a custom tool as its upstream has it, but for the index; `extra` are further fields of the choice. @returns its index */
  custom(choice: number, call: object, extra?: object): number
  /** Appends to the arguments of a tool call; what is no text as its JSON. */
  toolArguments(choice: number, tool: number, fragment: unknown): void
  /** Sets the finish reason of a choice, or the error that the upstream told in its place. */
  finish(choice: number, reason: FinishReason | UpstreamError, extra?: object): void
  /** Sets the usage, replacing any earlier report. */
  report(usage: Usage): void
  /** Counts what the decoder keeps of the stream itself. */
  keep(characters: number): void
  /** The same for entries, such as calls. @param count default 1 */
  keepEntries(count?: number): void
  /** The same for a value of JSON, whose small parts take far more memory than their characters. */
  keepValue(value: unknown): void
  /** Characters that are kept, by the builder as well. */
  kept(): number
  /** The choices added since the last call. */
  take(): ChunkChoice[]
  /** The remaining choices, with the finish reason of each. @throws UpstreamError that of a choice, or `truncated` if one has no finish reason */
  end(): ChunkChoice[]
}

/**
 * Creates the chunk builder of one stream.
 * @example const builder = chunkBuilder('mine')
 */
export function chunkBuilder(provider: string): ChunkBuilder {
  const choices = new Map<number, Choice>()
  let head: ChunkHead | undefined
  const added: ChunkChoice[] = []
  let kept = 0
  let usage: Usage | undefined

  const begin = ({ id, created, model = '', ...rest }: Partial<ChunkHead>): ChunkHead => {
    if (head) return head
    if (JSON.stringify([id, created, model]).length > HEAD_LENGTH)
      throw malformed(provider, 'The id and the model of the answer are too long')
    head = {
      id: textOf(id) || newCompletionId(),
      created: created || secondsNow(),
      model: textOf(model),
      ...repeated(rest),
      object: 'chat.completion.chunk',
    }
    return head
  }

  /** Completes the first delta of a choice with `role` and `content`. */
  const first = (index: number, delta: ChatDelta): ChatDelta => {
    choices.set(index, { tools: [], called: false })
    const whole: ChatDelta = { role: 'assistant', content: null, ...delta }
    whole.role = 'assistant'
    whole.content ??= whole.tool_calls ? null : ''
    return whole
  }

  const relay: ChunkBuilder['relay'] = (choice) => {
    const { index, delta } = choice
    asTexts(delta)
    if (!choices.has(index)) choice.delta = first(index, delta)
    else {
      if (delta.role !== undefined) delete delta.role
      if (isEmpty(delta)) return false
    }
    if (delta.tool_calls) choices.get(index)!.called = true
    added.push(choice)
    return true
  }

  const addDelta: ChunkBuilder['delta'] = (index, delta, extra) => {
    // A spread inside a literal costs more than the rest of a chunk (docs/decisions/008), and few choices have `extra`.
    return relay(extra ? { index, delta, ...extra, finish_reason: null } : { index, delta, finish_reason: null })
  }

  const addArguments: ChunkBuilder['toolArguments'] = (index, tool, given) => {
    const fragment = textOf(given)
    if (fragment === '') return
    choices.get(index)!.tools[tool]!.arguments += fragment
    kept += fragment.length
    added.push({
      index,
      delta: { tool_calls: [{ index: tool, function: { arguments: fragment } }] },
      finish_reason: null,
    })
  }

  // Emptied and not replaced: see decodeStream.
  const take = (): ChunkChoice[] => added.splice(0)

  return {
    head: () => begin({}),
    usage: () => usage,
    begin,
    relay,
    delta: addDelta,
    tool(index, { extra, ...given }) {
      const id = textOf(given.id) || newToolCallId()
      const name = textOf(given.name)
      const position = choices.get(index)?.tools.length ?? 0
      const call: ToolCallDelta = { index: position, id, type: 'function', function: { name, arguments: '' }, ...extra }
      relay({ index, delta: { tool_calls: [call] }, finish_reason: null })
      choices.get(index)!.tools.push({ arguments: '' })
      // Adapters keep the id and the name as well.
      kept += ENTRY + id.length + name.length
      return position
    },
    custom(index, call, extra) {
      const position = choices.get(index)?.tools.length ?? 0
      addDelta(index, { tool_calls: [{ ...call, index: position }] }, extra)
      choices.get(index)!.tools.push(undefined)
      kept += ENTRY
      return position
    },
    toolArguments: addArguments,
    finish(index, reason, extra = {}) {
      // An answer of nothing but an error does not begin.
      if (!choices.has(index) && typeof reason === 'object') choices.set(index, { tools: [], called: false })
      else if (!choices.has(index)) addDelta(index, {})
      const choice = choices.get(index)!
      // What follows an error, such as `stop`, does not take it back.
      if (typeof choice.finish?.reason === 'object') return
      choice.finish = { reason, extra }
      kept += VALUE * jsonLength(extra)
    },
    report(reported) {
      usage = reported
    },
    keep(characters) {
      kept += characters
    },
    keepEntries(count = 1) {
      kept += count * ENTRY
    },
    keepValue(value) {
      kept += VALUE * jsonLength(value)
    },
    kept: () => kept,
    take,
    end() {
      for (const { finish } of choices.values()) if (typeof finish?.reason === 'object') throw finish.reason
      const unfinished = choices.size === 0 || [...choices.values()].some(({ finish }) => !finish)
      if (unfinished) throw truncated(provider, 'The answer ended before it was whole')
      const count = jsonCount()
      for (const [index, { tools, called, finish }] of choices) {
        const reason = finishOf(finish!.reason as FinishReason, called)
        const { extra } = finish!
        for (const [tool, state] of tools.entries()) {
          if (!state) continue
          const whole = checkArguments(state.arguments, reason, provider, count)
          if (whole !== state.arguments) addArguments(index, tool, whole)
        }
        added.push({ index, delta: {}, ...extra, finish_reason: reason })
      }
      return take()
    },
  }
}

import type { ChatDelta, ChunkChoice, Usage } from '@turnpike/core'
import { extend, isObject } from '@turnpike/core/helpers'
import type { ChatDecoder } from '../adapter.js'
import type { ChunkBuilder } from '../answers/chunk-builder.js'
import { choiceIndex, chunkBuilder, unnamedCall } from '../answers/chunk-builder.js'
import { DONE } from '../upstream/events.js'
import { malformed } from '../refusals/failures.js'
import { toFinishReason } from '../answers/finish-reasons.js'
import { parseAnswer, textOf } from '../upstream/json.js'
import { usageJoiner } from '../answers/later-usage.js'
import { inForm, reportOf, separateThoughts } from './answer.js'
import { choiceError, toldError } from './errors.js'
import type { ChatOptions } from './chat.js'
import type { ThinkTags } from './think-tags.js'
import { thinkTags } from './think-tags.js'

interface UpstreamToolCall {
  index?: unknown
  id?: unknown
  type?: string
  function?: { name?: unknown; arguments?: unknown }
  /** Set instead of `function` for a call of a custom tool. */
  custom?: object
}

interface UpstreamChoice {
  index: number
  delta?: Record<string, unknown> & {
    tool_calls?: UpstreamToolCall[] | null
    /** Deprecated, but some compatible servers still send it. */
    function_call?: UpstreamToolCall['function'] | null
  }
  finish_reason?: string | null
  /** OpenRouter tells here why an answer ended with an error. */
  error?: unknown
  /** Kimi reports usage here. */
  usage?: unknown
  [field: string]: unknown
}

interface UpstreamChunk {
  choices?: UpstreamChoice[]
  error?: unknown
  usage?: unknown
  [field: string]: unknown
}

/** The state of a tool call. It is sent to the client once its name is known. */
interface OpenTool {
  id: string | undefined
  name?: string
  /** The index sent to the client; absent until the name is known. */
  ours?: number
  /** Arguments received before the name. */
  held: string
}

/** The index of an entry; null where it has none. What is none, such as a text of megabytes, is not kept. */
const numberOf = ({ index }: UpstreamToolCall): number | null => (typeof index === 'number' ? index : null)

/**
 * Tracks the tool calls of one choice. Compatible servers number them from 1, omit the index or the id, repeat it for parallel calls, or
 * send the name late. An entry belongs to the call with its index, unless it has a name and a different id, or no id and a different name.
 */
function toolTracker(choice: number, builder: ChunkBuilder) {
  /** The latest call with each index and with each id: an answer may have thousands of calls. */
  const byIndex = new Map<number, OpenTool>()
  const byId = new Map<string, OpenTool>()
  let last: OpenTool | undefined
  /** Number of calls whose name is not known yet. */
  let unnamed = 0
  /** Finds the call by its index, else by its id; an entry with neither continues the last call. */
  const find = (index: number | null, id: string): OpenTool | undefined => {
    if (index !== null) return byIndex.get(index)
    return id ? byId.get(id) : last
  }
  const open = (index: number | null): OpenTool => {
    last = { id: undefined, held: '' }
    if (index !== null) byIndex.set(index, last)
    unnamed++
    builder.keepEntries()
    return last
  }
  const track = (entry: UpstreamToolCall): void => {
    const { function: call = {} } = entry
    const index = numberOf(entry)
    const [id, name] = [textOf(entry.id), textOf(call.name)]
    let tool = find(index, id)
    const isAnother = id ? tool?.id && id !== tool.id : tool?.name && (index === null || name !== tool.name)
    if (!tool || (name && isAnother)) tool = open(index)
    if (tool.ours === undefined) {
      if (id && tool.id === undefined) {
        byId.set((tool.id = id), tool)
        builder.keep(id.length)
      }
      const held = textOf(call.arguments)
      tool.held += held
      builder.keep(held.length)
      if (!name) return
      unnamed--
      tool.name = name
      tool.ours = builder.tool(choice, { id: tool.id, name })
      builder.toolArguments(choice, tool.ours, tool.held)
    } else builder.toolArguments(choice, tool.ours, call.arguments)
  }
  /** The indices of calls of custom tools, by those of the upstream, which may be any numbers. */
  const customs = new Map<number, number>()
  const custom = ({ index, ...entry }: UpstreamToolCall, extra: object): void => {
    const given = numberOf({ index }) ?? 0
    const ours = customs.get(given)
    if (ours === undefined) customs.set(given, builder.custom(choice, entry, extra))
    else builder.delta(choice, { tool_calls: [{ ...entry, index: ours }] } as ChatDelta, extra)
  }
  return { track, custom, isWhole: () => unnamed === 0 }
}

/** Whether a delta has any non-empty field. */
function hasContent(delta: Record<string, unknown>): boolean {
  for (const key in delta) if (delta[key] !== undefined && delta[key] !== null && delta[key] !== '') return true
  return false
}

const isJoined = (value: unknown): boolean => typeof value === 'object'

/** The fields of a choice whose values are wanted, and those without any. */
const partOf = (extra: object, isWanted: (value: unknown) => boolean): object =>
  Object.fromEntries(Object.entries(extra).filter(([, value]) => value === null || isWanted(value)))

/** Characters of the name of a service tier: each chunk repeats it. */
const TIER_LENGTH = 200

/** Decodes and normalizes an OpenAI stream. Obfuscation padding and Azure's empty first chunk are removed. */
export function streamDecoder(provider: string, model: string, tagged: ChatOptions['thinkTags'] = false): ChatDecoder {
  const builder = chunkBuilder(provider)
  const trackers = new Map<number, ReturnType<typeof toolTracker>>()
  const tags = new Map<number, ThinkTags>()
  const join = usageJoiner<Usage>()
  let begun = false
  /** Whether any choice had a `delta`: a `message` that follows repeats what they said. */
  let inDeltas = false
  let done = false

  const report = (reported: Usage): void => {
    const { prompt_tokens, completion_tokens, total_tokens } = reported
    // These first: they are kept however many others there are.
    const usage = join(extend({ prompt_tokens, completion_tokens, total_tokens }, reported))
    usage.total_tokens = usage.prompt_tokens + usage.completion_tokens
    builder.report(usage)
  }

  const onChoice = (given: UpstreamChoice, position: number): void => {
    if (isObject(given.delta)) inDeltas = true
    const choice = inForm('delta', inDeltas && !given.delta ? { ...given, delta: {} } : given) as UpstreamChoice
    choice.index = choiceIndex(provider, choice.index, position)
    // Fast path for text, which is nearly every chunk: the parsed object itself is passed on.
    const { tool_calls: entries, function_call: legacy, content, reasoning } = choice.delta!
    const isText = !entries && !legacy && reasoning === undefined && !Array.isArray(content)
    if (isText && !tagged && !choice.finish_reason && !choice.error) {
      choice.finish_reason = null
      builder.relay(choice as ChunkChoice)
      return
    }
    const { index, delta: said, finish_reason, usage: _, error, ...extra } = choice
    const { role: __, tool_calls: ___, function_call: ____, ...delta } = said!
    separateThoughts(delta)
    if (tagged) {
      let own = tags.get(index)
      if (!own) tags.set(index, (own = thinkTags(tagged)))
      own.separate(delta)
      if (finish_reason) own.end(delta)
    }
    const calls = entries?.length ? entries : legacy ? [{ index: 0, function: legacy }] : []
    const end = error ? choiceError(provider, error) : finish_reason && toFinishReason(provider, finish_reason)
    // Each field once: a client puts lists and objects together from all chunks, such as log probabilities.
    let beside: object = end ? partOf(extra, isJoined) : extra
    let isTold = false
    if (hasContent(delta) || (calls.length === 0 && typeof end !== 'object'))
      isTold = builder.delta(index, delta as ChatDelta, beside)
    for (const entry of calls) {
      let tracker = trackers.get(index)
      if (!tracker) trackers.set(index, (tracker = toolTracker(index, builder)))
      if (!entry.custom) tracker.track(entry)
      else {
        if (isTold) beside = {}
        tracker.custom(entry, beside)
        isTold = true
      }
    }
    if (end) builder.finish(index, end, isTold ? partOf(extra, (value) => !isJoined(value)) : extra)
  }

  const onEvent = (data: string): void => {
    const chunk = parseAnswer(data) as UpstreamChunk | null | undefined
    if (chunk === undefined) throw malformed(provider, 'An event of the answer is not JSON')
    const reported = chunk && reportOf(chunk)
    if (reported) report(reported)
    if (chunk?.error || !Array.isArray(chunk?.choices)) {
      const told = toldError(provider, chunk, begun)
      if (told) throw told
      return
    }
    if (chunk.choices.length > 0 && !begun) {
      begun = true
      const { choices: _, usage: __, obfuscation: ___, ...head } = chunk
      builder.begin({ ...head, model: (head['model'] as string) || model })
    }
    // Some servers name the tier that served an answer in a later chunk only.
    const { service_tier: tier } = chunk
    if (begun && typeof tier === 'string' && tier.length <= TIER_LENGTH) builder.head()['service_tier'] = tier
    chunk.choices.forEach(onChoice)
  }

  const end = (): ChunkChoice[] => {
    for (const { isWhole } of trackers.values()) if (!isWhole()) throw unnamedCall(provider)
    return builder.end()
  }

  return {
    push(events) {
      for (const { data } of events) {
        if (data === DONE) {
          done = true
          return end()
        }
        onEvent(data)
      }
      return builder.take()
    },
    done: () => done,
    head: builder.head,
    usage: builder.usage,
    end,
    rest: builder.take,
    kept: builder.kept,
  }
}

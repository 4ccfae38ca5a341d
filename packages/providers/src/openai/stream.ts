import type { ChatDelta, ChunkChoice } from '@turnpike/core'
import type { ChatDecoder } from '../adapter.js'
import type { ChunkBuilder } from '../chunk-builder.js'
import { chunkBuilder } from '../chunk-builder.js'
import { malformed } from '../failures.js'
import { parseJson } from '../json.js'
import { separateThoughts, toFinishReason, toUsage } from './answer.js'
import { toldError } from './errors.js'

interface UpstreamToolCall {
  index?: number | null
  id?: string | null
  type?: string
  function?: { name?: string | null; arguments?: unknown }
  /** Set in place of `function` where the call is of a custom tool. */
  custom?: object
}

interface UpstreamChoice {
  index?: number
  delta?: Record<string, unknown> & {
    tool_calls?: UpstreamToolCall[] | null
    /** The deprecated form, which some compatible servers still give. */
    function_call?: UpstreamToolCall['function'] | null
  }
  finish_reason?: string | null
  /** Where Kimi reports it. */
  usage?: unknown
}

interface UpstreamChunk {
  choices?: UpstreamChoice[]
  error?: unknown
  usage?: unknown
  [field: string]: unknown
}

/** A tool call of the upstream, until its name is known and it can begin. */
interface OpenTool {
  /** The upstream's index; null where it gives none. */
  index: number | null
  id: string | undefined
  name?: string
  /** Our index; absent while the name is missing. */
  ours?: number
  /** Arguments that came before the name. */
  held: string
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)

/**
 * The tool calls of one choice. Compatible servers count them from 1, leave the index or the id out, give parallel calls the same one,
 * or send the name late; an entry belongs to the call with its index unless it brings a name and another id, or without one another name.
 */
function toolTracker(choice: number, builder: ChunkBuilder) {
  const tools: OpenTool[] = []
  /** By its index; without one by its id; with neither it goes on with the last call. */
  const find = ({ index, id }: UpstreamToolCall): OpenTool | undefined => {
    if (typeof index === 'number') return tools.findLast((tool) => tool.index === index)
    return id ? tools.findLast((tool) => tool.id === id) : tools.at(-1)
  }
  const track = (entry: UpstreamToolCall): void => {
    const { index = null, id, function: call = {} } = entry
    let tool = find(entry)
    const { name } = call
    const isAnother = id ? tool?.id && id !== tool.id : tool?.name && (index === null || name !== tool.name)
    if (!tool || (name && isAnother)) tools.push((tool = { index, id: id ?? undefined, held: '' }))
    if (tool.ours === undefined) {
      tool.id ??= id ?? undefined
      tool.held += textOf(call.arguments)
      if (!name) return
      tool.name = name
      tool.ours = builder.tool(choice, { id: tool.id || undefined, name })
      builder.toolArguments(choice, tool.ours, tool.held)
    } else builder.toolArguments(choice, tool.ours, textOf(call.arguments))
  }
  return { track, isWhole: () => tools.every(({ ours }) => ours !== undefined) }
}

/** Whether a delta says anything besides its role. */
function says(delta: Record<string, unknown>): boolean {
  for (const key in delta) if (delta[key] !== undefined && delta[key] !== null && delta[key] !== '') return true
  return false
}

/** The chunks of an OpenAI-style stream, made regular; obfuscation padding and Azure's empty first chunk are left out. */
export function streamDecoder(provider: string, model: string): ChatDecoder {
  const builder = chunkBuilder(provider)
  const trackers = new Map<number, ReturnType<typeof toolTracker>>()
  let begun = false
  let done = false

  const report = (usage: unknown): void => {
    const reported = toUsage(usage)
    if (reported) builder.report(reported)
  }

  const onChoice = (choice: UpstreamChoice, position: number): void => {
    choice.index ??= position
    choice.delta ??= {}
    // Nearly every chunk is one of text: it goes on as the object that it came as.
    const { tool_calls: entries, function_call: legacy, content, reasoning } = choice.delta
    if (!choice.finish_reason && !entries && !legacy && reasoning === undefined && !Array.isArray(content)) {
      choice.finish_reason = null
      builder.relay(choice as ChunkChoice)
      return
    }
    const { index, delta: given, finish_reason, usage, ...extra } = choice
    if (usage) report(usage)
    const { role: _, tool_calls: __, function_call: ___, ...delta } = given
    separateThoughts(delta)
    const calls = entries?.length ? entries : legacy ? [{ index: 0, function: legacy }] : []
    if (calls.length === 0 || says(delta)) builder.delta(index, delta as ChatDelta, extra)
    for (const entry of calls) {
      if (entry.custom) {
        builder.delta(index, { tool_calls: [entry] } as ChatDelta, extra)
        continue
      }
      let tracker = trackers.get(index)
      if (!tracker) trackers.set(index, (tracker = toolTracker(index, builder)))
      tracker.track(entry)
    }
    if (finish_reason) builder.finish(index, toFinishReason(finish_reason), extra)
  }

  const onEvent = (data: string): void => {
    const chunk = parseJson(data) as UpstreamChunk | null | undefined
    if (chunk === undefined) throw malformed(provider, 'An event of the answer is not JSON')
    if (chunk?.error) throw toldError(provider, chunk, begun)!
    if (!Array.isArray(chunk?.choices)) return
    if (chunk.choices.length > 0 && !begun) {
      begun = true
      const { choices: _, usage: __, obfuscation: ___, ...head } = chunk
      builder.begin({ ...head, model: (head['model'] as string) || model })
    }
    chunk.choices.forEach(onChoice)
    if (chunk.usage) report(chunk.usage)
  }

  const end = (): ChunkChoice[] => {
    for (const { isWhole } of trackers.values()) if (!isWhole()) throw malformed(provider, 'A tool call has no name')
    return builder.end()
  }

  return {
    push(events) {
      for (const { data } of events) {
        if (data === '[DONE]') {
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
  }
}

import type { ChatCompletionRequest } from '@turnpike/core'
import type { ChatDecoder } from '../adapter.js'
import { chunkBuilder, finishOf } from '../chunk-builder.js'
import { malformed } from '../failures.js'
import type { UpstreamUsage } from './answer.js'
import { toFinishReason, toUsage } from './answer.js'
import { toldError } from './errors.js'
import { jsonTool } from './request.js'
import type { AnswerBlock, Message } from './response.js'

/** An event of a stream; what the family adds one day is passed over. */
interface StreamEvent {
  type?: string
  message?: Message
  index?: number
  content_block?: AnswerBlock
  delta?: {
    type?: string
    text?: string
    thinking?: string
    partial_json?: string
    stop_reason?: string | null
    stop_details?: { explanation?: string | null } | null
  }
  usage?: UpstreamUsage | null
}

/** An open block: text, thoughts, the input of a tool that is the answer (`json`), a tool call, or one that is passed over. */
type Open = { kind: 'text' | 'thinking' | 'json' | 'other' } | { kind: 'tool'; tool: number; whole: boolean }

const OTHER: Open = { kind: 'other' }

/** Decodes the events of one stream of the Messages API. */
export function streamDecoder(provider: string, request: ChatCompletionRequest): ChatDecoder {
  const builder = chunkBuilder(provider)
  const json = jsonTool(request)
  const blocks = new Map<number, Open>()
  let id: string | undefined
  let usage: UpstreamUsage = {}
  let tools = 0
  let done = false

  /** Counts are cumulative: a later report replaces an earlier one, except where it says nothing. */
  const report = (later: UpstreamUsage | null | undefined): void => {
    if (!later) return
    for (const key in later) if (later[key] !== null && later[key] !== undefined) usage[key] = later[key]
    builder.report(toUsage(usage))
  }

  const open = (index: number, block: AnswerBlock): void => {
    if (block.type === 'text') {
      blocks.set(index, { kind: 'text' })
      if (block.text) builder.delta(0, { content: block.text })
    } else if (block.type === 'thinking') {
      blocks.set(index, { kind: 'thinking' })
      if (block.thinking) builder.delta(0, { reasoning_content: block.thinking })
    } else if (block.type !== 'tool_use') blocks.set(index, OTHER)
    else {
      const { name = '', input } = block
      // Calls that a program made come with their input whole.
      const given = typeof input === 'object' && input !== null && Object.keys(input).length > 0
      if (name === json) {
        blocks.set(index, { kind: 'json' })
        if (given) builder.delta(0, { content: JSON.stringify(input) })
        return
      }
      const tool = builder.tool(0, { id: block.id, name })
      tools++
      blocks.set(index, { kind: 'tool', tool, whole: given })
      if (given) builder.toolArguments(0, tool, JSON.stringify(input))
    }
  }

  const onDelta = (block: Open, delta: NonNullable<StreamEvent['delta']>): void => {
    const { type, text, thinking, partial_json } = delta
    if (type === 'text_delta' && block.kind === 'text' && text) builder.delta(0, { content: text })
    else if (type === 'thinking_delta' && block.kind === 'thinking' && thinking)
      builder.delta(0, { reasoning_content: thinking })
    else if (type === 'input_json_delta' && partial_json) {
      if (block.kind === 'json') builder.delta(0, { content: partial_json })
      else if (block.kind === 'tool' && !block.whole) builder.toolArguments(0, block.tool, partial_json)
    }
  }

  const start = (message: Message): void => {
    if (id !== undefined) {
      if (message.id !== id) throw malformed(provider, 'The upstream began another answer within the stream')
      return
    }
    id = message.id ?? ''
    builder.begin({ id, model: message.model || request.model })
    builder.delta(0, {})
    report(message.usage)
    message.content?.forEach((block, index) => open(index, block))
  }

  const end = ({ stop_reason, stop_details }: NonNullable<StreamEvent['delta']>): void => {
    if (!stop_reason) return
    const given = toFinishReason(stop_reason)
    if (given === 'content_filter' && stop_details?.explanation) builder.delta(0, { refusal: stop_details.explanation })
    builder.finish(0, finishOf(given, tools > 0))
  }

  const onEvent = (event: StreamEvent): void => {
    switch (event.type) {
      case 'message_start':
        start(event.message ?? {})
        break
      case 'content_block_start':
        open(event.index ?? 0, event.content_block ?? { type: '' })
        break
      case 'content_block_delta':
        onDelta(blocks.get(event.index ?? 0) ?? OTHER, event.delta ?? {})
        break
      case 'message_delta':
        report(event.usage)
        end(event.delta ?? {})
        break
      case 'message_stop':
        done = true
        break
      case 'error':
        throw toldError(provider, event, id !== undefined)!
    }
  }

  const parse = (data: string): StreamEvent => {
    try {
      return (JSON.parse(data) ?? {}) as StreamEvent
    } catch (cause) {
      throw malformed(provider, 'An event of the stream is not JSON', cause)
    }
  }

  return {
    push(events) {
      for (const { data } of events) {
        onEvent(parse(data))
        if (done) return builder.end()
      }
      return builder.take()
    },
    done: () => done,
    head: builder.head,
    usage: builder.usage,
    end: builder.end,
    rest: builder.take,
  }
}

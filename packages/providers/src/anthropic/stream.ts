import type { ChatCompletionRequest, ChatDelta } from '@turnpike/core'
import type { ChatDecoder } from '../adapter.js'
import { chunkBuilder } from '../answers/chunk-builder.js'
import { DONE } from '../upstream/events.js'
import { malformed } from '../refusals/failures.js'
import { toFinishReason } from '../answers/finish-reasons.js'
import { parseJson, textOf } from '../upstream/json.js'
import type { UpstreamUsage } from './answer.js'
import { reportJoiner, toUsage } from './answer.js'
import { toldError } from './errors.js'
import { jsonTool } from './tools.js'
import type { AnswerBlock, Message } from './response.js'
import type { Thought, ThoughtFields } from './thoughts.js'
import { isSigned, thoughtCarrier } from './thoughts.js'

/** A stream event. Unknown types are ignored. */
interface StreamEvent {
  type?: string
  message?: Message
  index?: unknown
  content_block?: AnswerBlock
  delta?: {
    type?: string
    text?: unknown
    thinking?: unknown
    signature?: unknown
    partial_json?: unknown
    stop_reason?: string | null
    stop_details?: { explanation?: string | null } | null
  }
  usage?: UpstreamUsage | null
}

/** The index of a block. What is none, such as a text of megabytes, is not kept. */
const indexOf = ({ index }: StreamEvent): number => (typeof index === 'number' ? index : 0)

/** An open content block: the type of its deltas, and the consumer of their text. */
interface Open {
  takes: string
  add(text: string): void
  /** Whether it is a tool call without arguments so far. */
  bare?: boolean
  /** The thought that it is, as far as it was received. */
  thought?: Thought
}

/** Decodes the events of one stream of the Messages API. */
export function streamDecoder(provider: string, request: ChatCompletionRequest): ChatDecoder {
  const builder = chunkBuilder(provider)
  const json = jsonTool(request)
  const blocks = new Map<number, Open>()
  let id: string | undefined
  const join = reportJoiner()
  /** The reports so far, joined. */
  let reported: UpstreamUsage | undefined
  let done = false

  const report = (later: UpstreamUsage | null | undefined): void => {
    if (later) reported = join(later)
  }

  const say = (content: string): void => void builder.delta(0, { content })
  const think = (reasoning_content: string): void => void builder.delta(0, { reasoning_content } as ChatDelta)
  const thoughts = thoughtCarrier()
  /** Sends the thoughts so far. They wait for the block that follows, because one that precedes a tool call is sent back before it. */
  const carry = (call?: string): void => {
    const fields: ThoughtFields = { reasoning_details: [], thinking_blocks: [] }
    thoughts.move(fields, call)
    if (fields.reasoning_details.length > 0) builder.delta(0, { ...fields } as ChatDelta)
  }

  /** Opens a block. Types without an equivalent in OpenAI's form are ignored. */
  const open = (index: number, block: AnswerBlock): void => {
    const { type, text, thinking = '', id, name = '', input } = block
    if (type === 'text') {
      carry()
      blocks.set(index, { takes: 'text_delta', add: say })
      if (text) say(text)
    } else if (type === 'thinking') {
      const thought: Thought = { type, thinking: '', signature: '' }
      const add = (fragment: string): void => {
        thought.thinking += fragment
        builder.keep(fragment.length)
        think(fragment)
      }
      blocks.set(index, { takes: 'thinking_delta', add, thought })
      if (thinking) add(textOf(thinking))
    } else if (type === 'tool_use') {
      let add = say
      carry(name === json ? undefined : id)
      if (name !== json) {
        const tool = builder.tool(0, { id, name })
        add = (fragment) => builder.toolArguments(0, tool, fragment)
      }
      // Programmatic tool calls have their complete input in the start event.
      const given = typeof input === 'object' && input !== null && Object.keys(input).length > 0
      blocks.set(index, { takes: given ? '' : 'input_json_delta', add, bare: !given })
      if (given) add(JSON.stringify(input))
    } else blocks.delete(index)
    builder.keepEntries()
    // A redacted thought is whole in its start event.
    if (isSigned(block)) {
      thoughts.add(block)
      builder.keepValue(block)
    }
  }

  const onDelta = (index: number, delta: NonNullable<StreamEvent['delta']>): void => {
    const { type, text, thinking, partial_json } = delta
    const block = blocks.get(index)
    if (type === 'signature_delta' && block?.thought) {
      const signature = textOf(delta.signature)
      block.thought.signature += signature
      builder.keep(signature.length)
    }
    const fragment = textOf(text ?? thinking ?? partial_json)
    if (!fragment || !block || block.takes !== type) return
    block.bare = false
    block.add(fragment)
  }

  /** Completes a block: empty arguments now, because clients parse them as soon as the next call begins. */
  const close = (index: number): void => {
    const { bare, thought } = blocks.get(index) ?? {}
    if (bare) onDelta(index, { type: 'input_json_delta', partial_json: '{}' })
    if (!thought) return
    thoughts.add(thought)
    blocks.delete(index)
  }

  const start = (message: Message): void => {
    if (id !== undefined) {
      if (message.id !== id) throw malformed(provider, 'Another answer begins within the answer')
      return
    }
    id = message.id ?? ''
    builder.begin({ id, model: message.model || request.model })
    builder.delta(0, {})
    // Its count of output tokens is none: it is 1 or a little more, whatever follows.
    report(message.stop_reason ? message.usage : { ...message.usage, output_tokens: 0 })
    message.content?.forEach((block, index) => open(index, block))
    // An answer that continues programmatic tool calls may be complete in its start event.
    end(message)
  }

  const end = ({ stop_reason, stop_details }: NonNullable<StreamEvent['delta']>): void => {
    if (!stop_reason) return
    carry()
    const reason = toFinishReason(provider, stop_reason)
    if (reason === 'content_filter' && stop_details?.explanation)
      builder.delta(0, { refusal: stop_details.explanation })
    builder.finish(0, reason)
  }

  const onEvent = (data: string): void => {
    if (data === DONE) return
    const value = parseJson(data)
    if (value === undefined) throw malformed(provider, 'An event of the answer is not JSON')
    const event = (value ?? {}) as StreamEvent
    switch (event.type) {
      case 'message_start':
        start(event.message ?? {})
        break
      // The whole answer of a server that does not stream.
      case 'message':
        start(event as Message)
        done = true
        break
      case 'content_block_start':
        open(indexOf(event), event.content_block ?? { type: '' })
        break
      case 'content_block_delta':
        onDelta(indexOf(event), event.delta ?? {})
        break
      case 'content_block_stop':
        close(indexOf(event))
        break
      case 'message_delta':
        report(event.usage)
        end(event.delta ?? {})
        break
      case 'message_stop':
        done = true
        break
      default: {
        const told = toldError(provider, event, id !== undefined)
        if (told) throw told
      }
    }
  }

  return {
    push(events) {
      for (const { data } of events) {
        onEvent(data)
        if (done) return builder.end()
      }
      return builder.take()
    },
    done: () => done,
    head: builder.head,
    usage: () => reported && toUsage(reported),
    end: builder.end,
    rest: builder.take,
    kept: builder.kept,
  }
}

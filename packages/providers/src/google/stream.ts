import type { ChatCompletionRequest, ChatDelta } from '@turnpike/core'
import type { ChatDecoder } from '../adapter.js'
import { choiceIndex, chunkBuilder, newToolCallId } from '../answers/chunk-builder.js'
import { DONE } from '../upstream/events.js'
import { malformed } from '../refusals/failures.js'
import { toFinishReason } from '../answers/finish-reasons.js'
import { toolIds } from '../answers/tool-ids.js'
import { JSON_FIELDS } from '@turnpike/core/internal'
import type { Answer, AnswerPart, Candidate } from './answer.js'
import { blockOf, idOf, isText, toImage, toLogprobs } from './answer.js'
import { toldError } from './errors.js'
import { eventReader } from './event-reader.js'
import { addArgument, emptyArguments } from './partial-arguments.js'
import { toDetail, toExtraContent } from './signatures.js'

/** A tool call with incomplete arguments. */
interface OpenCall {
  id: string | undefined
  name: string
  signature: string | undefined
  args: object
}

/** The state of a candidate. */
interface State {
  /** Whether it has any text or call. */
  usable: boolean
  /** Number of its images. */
  images: number
  /** Number of its signatures of text and calls. */
  details: number
  open?: OpenCall | undefined
  /** Log probabilities that have not been sent with a delta yet. */
  extra?: { logprobs: NonNullable<ReturnType<typeof toLogprobs>> } | undefined
}

/**
 * Decodes a Gemini stream: each event is an answer with only the new parts. The stream has no end marker, and until its body ends it
 * can still fail: an error may follow after all events.
 */
export function streamDecoder(provider: string, request: ChatCompletionRequest): ChatDecoder {
  const builder = chunkBuilder(provider)
  const reader = eventReader()
  const states = new Map<number, State>()
  const toId = toolIds()
  /** Values that fragments of arguments may still add. One fragment may add a hundred. */
  let values = JSON_FIELDS
  let begun = false
  /** A `promptFeedback` without a reason: the prompt was blocked if no candidates follow. */
  let feedback: Answer | undefined

  const begin = (answer: Answer): void => {
    if (begun) return
    begun = true
    builder.begin({ id: idOf(answer), model: request.model })
  }

  /** A delta with an entry of `reasoning_details`. */
  const detail = (index: number, signature: string, extra: object, id?: string): void => {
    const reasoning_details = [toDetail(signature, states.get(index)!.details++, id)]
    builder.delta(index, { ...extra, reasoning_details } as ChatDelta)
  }

  const call = (index: number, { id: given, name, signature, args }: OpenCall): void => {
    const id = given ? toId(given) : newToolCallId()
    const extra = signature ? { extra_content: toExtraContent(signature) } : {}
    const tool = builder.tool(index, { id, name, extra })
    builder.toolArguments(index, tool, JSON.stringify(args))
    if (signature) detail(index, signature, {}, id)
  }

  const close = (index: number, state: State): void => {
    if (state.open) call(index, state.open)
    state.open = undefined
  }

  const onCall = (index: number, state: State, part: AnswerPart): void => {
    const { id, name, args, partialArgs, willContinue } = part.functionCall!
    if (name) {
      close(index, state)
      state.usable = true
      state.open = { id, name, signature: part.thoughtSignature, args: args ?? emptyArguments() }
    }
    if (!state.open) return
    for (const argument of partialArgs ?? []) {
      const added = addArgument(state.open.args, argument)
      if ((values -= added) < 0) throw malformed(provider, 'The arguments of the calls have too many values')
      builder.keepEntries(added)
      builder.keep((added > 0 ? argument.jsonPath!.length : 0) + (argument.stringValue?.length ?? 0))
    }
    if (!willContinue) close(index, state)
    else if (name) builder.keepValue(state.open)
  }

  const onPart = (index: number, state: State, part: AnswerPart): void => {
    if (part.functionCall) {
      onCall(index, state, part)
      return
    }
    const image = toImage(part)
    if (image) builder.delta(index, { images: [{ ...image, index: state.images++ }] })
    if (part.text && part.thought) builder.delta(index, { reasoning_content: part.text } as ChatDelta)
    else if (part.text) {
      state.usable = true
      builder.delta(index, { content: part.text }, state.extra)
      state.extra = undefined
    }
    const { thoughtSignature: signature } = part
    if (signature && isText(part)) detail(index, signature, { extra_content: toExtraContent(signature) })
  }

  const onCandidate = (candidate: Candidate, position: number): void => {
    const { content, finishReason } = candidate
    const index = choiceIndex(provider, candidate.index, position)
    let state = states.get(index)
    if (!state) states.set(index, (state = { usable: false, images: 0, details: 0 }))
    const logprobs = toLogprobs(candidate)
    if (logprobs) {
      // One at a time: as arguments, a long list would overflow the stack.
      if (state.extra) for (const one of logprobs.content) state.extra.logprobs.content.push(one)
      else state.extra = { logprobs }
    }
    for (const part of content?.parts ?? []) onPart(index, state, part)
    // They wait for a text.
    if (logprobs && state.extra) builder.keepValue(logprobs.content)
    if (!finishReason) return
    close(index, state)
    builder.finish(index, toFinishReason(provider, finishReason, state.usable), state.extra)
  }

  const block = (answer: Answer): void => {
    begin(answer)
    builder.delta(0, { refusal: blockOf(answer)! } as ChatDelta)
    builder.finish(0, 'content_filter')
  }

  const onEvent = (data: string, followed: boolean): void => {
    if (data === DONE) return
    const answer = reader.read(data, followed)
    if (answer === undefined) throw malformed(provider, 'An event of the answer is not JSON')
    const error = toldError(provider, answer, begun)
    if (error) throw error
    if (answer?.candidates?.length) {
      begin(answer)
      answer.candidates.forEach(onCandidate)
    } else if (answer?.promptFeedback?.blockReason) block(answer)
    else if (answer?.promptFeedback) {
      feedback = answer
      builder.keep(data.length)
    }
  }

  return {
    push(events) {
      events.forEach(({ data }, i) => onEvent(data, i < events.length - 1))
      return builder.take()
    },
    done: () => false,
    head: builder.head,
    usage: reader.usage,
    end() {
      if (feedback && !begun) block(feedback)
      return builder.end()
    },
    rest: builder.take,
    kept: builder.kept,
  }
}

import type { ChatCompletionRequest, Completion, ToolCall } from '@turnpike/core'
import { finishOf, newToolCallId, secondsNow } from '../answers/chunk-builder.js'
import { malformed } from '../refusals/failures.js'
import { finishReason } from '../answers/finish-reasons.js'
import type { ToolIds } from '../answers/tool-ids.js'
import { toolIds } from '../answers/tool-ids.js'
import type { Answer, AnswerPart, Candidate } from './answer.js'
import { toldError } from './errors.js'
import { blockOf, idOf, isText, reportOf, toImage, toLogprobs } from './answer.js'
import { signatureOf, toDetail, toExtraContent } from './signatures.js'

type Choice = Completion['choices'][number]

function toToolCall({ functionCall, thoughtSignature }: AnswerPart, toId: ToolIds): ToolCall[] {
  const { id, name, args } = functionCall ?? {}
  if (!name) return []
  const call: ToolCall = {
    id: id ? toId(id) : newToolCallId(),
    type: 'function',
    function: { name, arguments: JSON.stringify(args ?? {}) },
  }
  if (thoughtSignature) call['extra_content'] = toExtraContent(thoughtSignature)
  return [call]
}

/** The fields of a message with the signatures of its text and calls; those of images are with them. */
function signaturesOf(parts: AnswerPart[], calls: ToolCall[]): object {
  const { thoughtSignature: ofText } = parts.findLast((part) => isText(part) && part.thoughtSignature) ?? {}
  const ofCalls = calls.flatMap(({ id, ...call }) => {
    const signature = signatureOf(call)
    return signature ? [[signature, id] as const] : []
  })
  const signed: (readonly [signature: string, id?: string])[] = ofText ? [[ofText], ...ofCalls] : ofCalls
  return {
    ...(ofText && { extra_content: toExtraContent(ofText) }),
    ...(signed.length > 0 && { reasoning_details: signed.map(([data, id], index) => toDetail(data, index, id)) }),
  }
}

function toChoice(provider: string, candidate: Candidate, position: number, toId: ToolIds): Choice {
  const { index = position, content } = candidate
  const parts = content?.parts ?? []
  const textOf = (thought: boolean): string =>
    parts.map((part) => (Boolean(part.thought) === thought ? (part.text ?? '') : '')).join('')
  const text = textOf(false)
  const thoughts = textOf(true)
  const calls = parts.flatMap((part) => toToolCall(part, toId))
  const images = parts.flatMap((part) => toImage(part) ?? [])
  const called = calls.length > 0
  const finish = finishReason(provider, candidate.finishReason, text !== '' || called)
  const message: Choice['message'] = { role: 'assistant', content: text || (called ? null : ''), refusal: null }
  if (thoughts) message['reasoning_content'] = thoughts
  if (called) message.tool_calls = calls
  if (images.length > 0) message['images'] = images
  Object.assign(message, signaturesOf(parts, calls))
  return {
    index,
    message,
    logprobs: toLogprobs(candidate),
    finish_reason: finishOf(finish, called),
  }
}

/** The choice for a blocked prompt. */
const refusal = (reason: string): Choice => ({
  index: 0,
  message: { role: 'assistant', content: null, refusal: reason },
  logprobs: null,
  finish_reason: 'content_filter',
})

/** Converts a response to OpenAI's form. @throws UpstreamError for an error in the body, and `malformed` if there are no candidates */
export function toResponse(provider: string, answer: Answer, request: ChatCompletionRequest): Completion {
  const { candidates } = answer
  const told = toldError(provider, answer, Boolean(candidates?.length))
  if (told) throw told
  const blocked = blockOf(answer)
  const toId = toolIds()
  if (!blocked && !candidates?.length) throw malformed(provider, 'The answer has no candidates')
  return {
    id: idOf(answer),
    object: 'chat.completion',
    created: secondsNow(),
    model: request.model,
    choices: blocked
      ? [refusal(blocked)]
      : candidates!
          .map((candidate, position) => toChoice(provider, candidate, position, toId))
          .toSorted((one, other) => one.index - other.index),
    usage: reportOf(answer),
  }
}

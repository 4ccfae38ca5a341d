import type { ChatMessage } from '@turnpike/core'
import { extend } from '@turnpike/core/internal'

/** Models that take no reasoning of earlier answers: those of OpenAI, except gpt-oss, and of Mistral. DeepSeek and others need it. */
const takesNoReasoning = /^(ft:)?(gpt-(?!oss)|chatgpt-|o\d|mistral|ministral|magistral|codestral|devstral|pixtral)/

/**
 * Removes what answers of other families left in a history, because strict servers reject unknown fields: the signatures of Gemini's tool
 * calls, which only a Gemini model can use, and `reasoning_content` for models that take none. It goes by the model and not by the address,
 * because many servers pass requests on to others.
 */
export function cleanHistory(messages: ChatMessage[], model: string): ChatMessage[] {
  const signs = model.includes('gemini')
  const reasons = !takesNoReasoning.test(model)
  const isSigned = (call: object): boolean => !signs && 'extra_content' in call
  const isClean = (message: ChatMessage): boolean =>
    message.role !== 'assistant' ||
    ((reasons || message.reasoning_content === undefined) && !message.tool_calls?.some(isSigned))
  if (messages.every(isClean)) return messages
  return messages.map((message) => {
    if (message.role !== 'assistant' || isClean(message)) return message
    const { tool_calls, reasoning_content } = message
    return extend(message, {
      tool_calls: tool_calls?.map((call) => (isSigned(call) ? extend(call, { extra_content: undefined }) : call)),
      reasoning_content: reasons ? reasoning_content : undefined,
    })
  })
}

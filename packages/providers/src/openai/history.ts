import type { ChatMessage } from '@turnpike/core'
import { extend } from '@turnpike/core/internal'

/** Models that take no reasoning of earlier answers: those of OpenAI, except gpt-oss, and of Mistral. DeepSeek and others need it. */
const takesNoReasoning = /^(ft:)?(gpt-(?!oss)|chatgpt-|o\d|mistral|ministral|magistral|codestral|devstral|pixtral)/

const isSigned = (call: object): boolean => 'extra_content' in call

/**
 * Removes what answers of other families left in a history, because strict servers reject unknown fields: the signatures of Gemini's tool
 * calls, which only a Gemini model can use, and `reasoning_content` for models that take none. It goes by the model and not by the address,
 * because many servers pass requests on to others.
 */
export function cleanHistory(messages: ChatMessage[], model: string): ChatMessage[] {
  const signs = model.includes('gemini')
  const reasons = !takesNoReasoning.test(model)
  if (!messages.some(({ role }) => role === 'assistant')) return messages
  return messages.map((message) => {
    if (message.role !== 'assistant') return message
    const { tool_calls, reasoning_content } = message
    const signed = !signs && tool_calls?.some(isSigned)
    if (!signed && (reasons || reasoning_content === undefined)) return message
    return extend(message, {
      tool_calls: signed ? tool_calls!.map((call) => extend(call, { extra_content: undefined })) : tool_calls,
      reasoning_content: reasons ? reasoning_content : undefined,
    })
  })
}

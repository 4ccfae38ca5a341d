import type { ChatMessage, Note } from '@turnpike/core'
import { extend } from '@turnpike/core/internal'

/** Models that take no reasoning of earlier answers: those of OpenAI, except gpt-oss, and of Mistral. DeepSeek and others need it. */
const takesNoReasoning = /^(ft:)?(gpt-(?!oss)|chatgpt-|o\d|mistral|ministral|magistral|codestral|devstral|pixtral)/

/** Models that take the images of earlier answers, in the form of OpenRouter. */
const takesImages = /gemini|image/

const isSigned = (signed: object): boolean => 'extra_content' in signed

/**
 * Removes what answers of other families left in a history, because strict servers reject unknown fields: Gemini's signatures, which only a
 * Gemini model can use; `reasoning_content` and `reasoning_details` for models that take none; and images, whose loss is noted. It goes by the
 * model and not by the address, because many servers pass requests on to others.
 */
export function cleanHistory(messages: ChatMessage[], model: string, notes: Note[]): ChatMessage[] {
  const signs = model.includes('gemini')
  const reasons = !takesNoReasoning.test(model)
  const pictures = takesImages.test(model)
  if (!messages.some(({ role }) => role === 'assistant')) return messages
  let lost = false
  const clean = messages.map((message) => {
    if (message.role !== 'assistant') return message
    const { tool_calls, reasoning_content, reasoning_details, images, extra_content } = message
    const signed = !signs && (isSigned(message) || tool_calls?.some(isSigned))
    const reasoned = !reasons && (reasoning_content !== undefined || reasoning_details !== undefined)
    const pictured = !pictures && images !== undefined
    if (!signed && !reasoned && !pictured) return message
    lost ||= pictured
    return extend(message, {
      tool_calls: signed ? tool_calls?.map((call) => extend(call, { extra_content: undefined })) : tool_calls,
      extra_content: signed ? undefined : extra_content,
      reasoning_content: reasons ? reasoning_content : undefined,
      reasoning_details: reasons ? reasoning_details : undefined,
      images: pictures ? images : undefined,
    })
  })
  if (lost) notes.push({ field: 'messages.images', action: 'dropped' })
  return clean
}

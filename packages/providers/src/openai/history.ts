import type { ChatMessage } from '@turnpike/core'
import { extend } from '@turnpike/core/internal'

/** Models that take no reasoning of earlier answers: those of OpenAI, except gpt-oss, and of Mistral. DeepSeek and others need it. */
const takesNoReasoning = /^(ft:)?(gpt-(?!oss)|chatgpt-|o\d|mistral|ministral|magistral|codestral|devstral|pixtral)/

/** The fields with the reasoning of an earlier answer, and the models that take them: OpenRouter's ids have a `/`, and LiteLLM has `thinking_blocks` of Claude. */
const reasoning: [field: string, takes: (model: string) => boolean][] = [
  ['reasoning_content', (model) => !takesNoReasoning.test(model)],
  ['reasoning_details', (model) => /claude|\//.test(model)],
  ['thinking_blocks', (model) => model.includes('claude')],
]

const isSigned = (call: object): boolean => 'extra_content' in call

/**
 * Removes what answers of other families left in a history, because strict servers reject unknown fields: the signatures of Gemini's tool
 * calls, which only a Gemini model can use, and reasoning for models that take none. It goes by the model and not by the address,
 * because many servers pass requests on to others.
 */
export function cleanHistory(messages: ChatMessage[], model: string): ChatMessage[] {
  const signs = model.includes('gemini')
  const untaken = reasoning.filter(([, takes]) => !takes(model)).map(([field]) => field)
  if (!messages.some(({ role }) => role === 'assistant')) return messages
  return messages.map((message) => {
    if (message.role !== 'assistant') return message
    const { tool_calls } = message
    const signed = !signs && tool_calls?.some(isSigned)
    const removed = untaken.filter((field) => message[field] !== undefined)
    if (!signed && removed.length === 0) return message
    return extend(message, {
      tool_calls: signed ? tool_calls!.map((call) => extend(call, { extra_content: undefined })) : tool_calls,
      ...Object.fromEntries(removed.map((field) => [field, undefined])),
    })
  })
}

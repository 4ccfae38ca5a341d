import type { ChatMessage, Note } from '@turnpike/core'
import { extend } from '@turnpike/core/internal'

/** Models that take no reasoning of earlier answers: those of OpenAI, except gpt-oss, and of Mistral. DeepSeek and others need it. */
const takesNoReasoning = /^(ft:)?(gpt-(?!oss)|chatgpt-|o\d|mistral|ministral|magistral|codestral|devstral|pixtral)/

const isSigned = (signed: object): boolean => 'extra_content' in signed

/**
 * What answers have beside their text, and the models that take it back: OpenRouter's ids have a `/`, LiteLLM has `thinking_blocks` of Claude,
 * and images are taken by the models that make them.
 */
const ofAnswers: [field: string, takes: (model: string) => boolean][] = [
  ['reasoning_content', (model) => !takesNoReasoning.test(model)],
  ['reasoning_details', (model) => /claude|\//.test(model)],
  ['thinking_blocks', (model) => model.includes('claude')],
  ['extra_content', (model) => model.includes('gemini')],
  ['images', (model) => /gemini|image/.test(model)],
]

/**
 * Removes what answers of other families left in a history, because strict servers reject unknown fields: Gemini's signatures, which only a
 * Gemini model can use, reasoning for models that take none, and images, whose loss is noted. It goes by the model and not by the
 * address, because many servers pass requests on to others.
 */
export function cleanHistory(messages: ChatMessage[], model: string, notes: Note[]): ChatMessage[] {
  if (!messages.some(({ role }) => role === 'assistant')) return messages
  const untaken = ofAnswers.filter(([, takes]) => !takes(model)).map(([field]) => field)
  let lost = false
  const clean = messages.map((message) => {
    if (message.role !== 'assistant') return message
    const { tool_calls } = message
    const signed = untaken.includes('extra_content') && tool_calls?.some(isSigned)
    const removed = untaken.filter((field) => message[field] !== undefined)
    if (!signed && removed.length === 0) return message
    lost ||= removed.includes('images')
    return extend(message, {
      tool_calls: signed ? tool_calls!.map((call) => extend(call, { extra_content: undefined })) : tool_calls,
      ...Object.fromEntries(removed.map((field) => [field, undefined])),
    })
  })
  if (lost) notes.push({ field: 'messages.images', action: 'dropped' })
  return clean
}

import type { ChatMessage, Note } from '@turnpike/core'
import { extend } from '@turnpike/core/internal'

/** Models that take no reasoning of earlier answers: those of OpenAI, except gpt-oss, and of Mistral. DeepSeek and others need it. */
const takesNoReasoning = /^(ft:)?(gpt-(?!oss)|chatgpt-|o\d|mistral|ministral|magistral|codestral|devstral|pixtral)/

const isSigned = (signed: object): boolean => 'extra_content' in signed

/**
 * What answers have beside their text, and the models that take it back. MiniMax and OpenRouter, whose ids have a `/`, have `reasoning_details`
 * (Google's own ids begin with `models/`); LiteLLM has `thinking_blocks` of Claude; images are taken by the models that make them.
 */
const ofAnswers: [field: string, takes: (model: string) => boolean][] = [
  ['reasoning_content', (model) => !takesNoReasoning.test(model)],
  ['reasoning_details', (model) => /claude|minimax|^(?!models\/).+\//i.test(model)],
  ['thinking_blocks', (model) => model.includes('claude')],
  ['extra_content', (model) => model.includes('gemini')],
  ['images', (model) => /gemini|image/.test(model)],
]

const thoughts = new Set(['reasoning_content', 'reasoning_details', 'thinking_blocks'])

/** Without a loss: thoughts as text, which a model does not need to go on, and signatures that mean nothing to other families. */
const unnoted = new Set(['reasoning_content', 'extra_content'])

/**
 * Removes what answers of other families left in a history, because strict servers reject unknown fields, and notes what is lost. It goes by the
 * model, because many servers pass requests on to others.
 * @param noThoughts whether the server takes reasoning of no model
 */
export function cleanHistory(
  messages: ChatMessage[],
  model: string,
  noThoughts: boolean,
  notes: Note[],
): ChatMessage[] {
  if (!messages.some(({ role }) => role === 'assistant')) return messages
  const untaken = ofAnswers
    .filter(([field, takes]) => (noThoughts && thoughts.has(field)) || !takes(model))
    .map(([field]) => field)
  const lost = new Set<string>()
  const clean = messages.map((message) => {
    if (message.role !== 'assistant') return message
    const { tool_calls } = message
    const signed = untaken.includes('extra_content') && tool_calls?.some(isSigned)
    const removed = untaken.filter((field) => message[field] !== undefined)
    if (!signed && removed.length === 0) return message
    for (const field of removed) if (!unnoted.has(field)) lost.add(field)
    return extend(message, {
      tool_calls: signed ? tool_calls!.map((call) => extend(call, { extra_content: undefined })) : tool_calls,
      ...Object.fromEntries(removed.map((field) => [field, undefined])),
    })
  })
  for (const field of lost) notes.push({ field: `messages.${field}`, action: 'dropped' })
  return clean
}

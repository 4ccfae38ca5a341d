import type { ChatMessage, ContentPart, Note } from '@turnpike/core'
import { append, extend } from '@turnpike/core/helpers'
import { isOwnModel } from './models.js'

/** Mistral's models, which take no reasoning of earlier answers, as OpenAI's own. DeepSeek and others need it. */
const ofMistral = /^(mistral|ministral|magistral|codestral|devstral|pixtral)/

/** What an answer may have in place of content and calls: "expected a string, got null". */
const saying = ['refusal', 'audio', 'function_call']

const isSigned = (signed: object): boolean => 'extra_content' in signed

/**
 * What answers have beside their text, and the models that take it back. MiniMax and OpenRouter, whose ids have a `/`, have `reasoning_details`
 * (Google's own ids begin with `models/`); LiteLLM has `thinking_blocks` of Claude; images are taken by the models that make them.
 */
const ofAnswers: [field: string, takes: (model: string) => boolean][] = [
  ['reasoning_content', (model) => !isOwnModel(model) && !ofMistral.test(model)],
  ['reasoning_details', (model) => /claude|minimax|^(?!models\/).+\//i.test(model)],
  ['thinking_blocks', (model) => model.includes('claude')],
  ['extra_content', (model) => model.includes('gemini')],
  ['images', (model) => /gemini|image/.test(model)],
]

const thoughts = new Set(['reasoning_content', 'reasoning_details', 'thinking_blocks'])

/** Without a loss: thoughts as text, which a model does not need to go on, signatures that mean nothing to other families, and no calls. */
const unnoted = new Set(['reasoning_content', 'extra_content', 'tool_calls'])

/** Characters of the name of a function, as OpenAI allows them: what is longer would be said again for each result. */
const NAME_LENGTH = 64

const isText = ({ type }: ContentPart): boolean => type === 'text'

/**
 * Moves the images of tool results into a message of the user behind them: "Image URLs are only allowed for messages with role 'user'" (OpenAI's
 * own models; many other servers take them in results).
 */
function moveMedia(messages: ChatMessage[]): ChatMessage[] {
  const hasMedia = (message: ChatMessage): boolean =>
    message.role === 'tool' && Array.isArray(message.content) && !message.content.every(isText)
  if (!messages.some(hasMedia)) return messages
  const names = new Map<string, string>()
  const moved: ChatMessage[] = []
  let media: ContentPart[] = []
  const flush = (): void => {
    if (media.length > 0) moved.push({ role: 'user', content: media })
    media = []
  }
  for (const message of messages) {
    if (message.role !== 'tool') flush()
    if (message.role === 'assistant')
      for (const call of message.tool_calls ?? [])
        names.set(call.id, (call.type === 'function' ? call.function : call.custom).name.slice(0, NAME_LENGTH))
    if (message.role !== 'tool' || !hasMedia(message)) {
      moved.push(message)
      continue
    }
    const parts = message.content as ContentPart[]
    const texts = parts.filter(isText)
    moved.push(extend(message, { content: texts.length > 0 ? texts : '' }))
    media.push({ type: 'text', text: `From the result of ${names.get(message.tool_call_id)}:` })
    append(
      media,
      parts.filter((part) => !isText(part)),
    )
  }
  flush()
  return moved
}

/**
 * Fits earlier messages to a model. Removes what answers of other families left, because strict servers reject unknown fields, and notes what is
 * lost. It goes by the model and not by the address, because many servers pass requests on to others.
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
    const { tool_calls, content = null } = message
    const isEmpty = content === null && !tool_calls?.length && !saying.some((field) => message[field])
    const signed = untaken.includes('extra_content') && tool_calls?.some(isSigned)
    const removed = untaken.filter((field) => message[field] !== undefined)
    // "[] is too short": an empty list of calls, which some clients keep.
    if (tool_calls?.length === 0) removed.push('tool_calls')
    if (!signed && !isEmpty && removed.length === 0) return message
    for (const field of removed) if (!unnoted.has(field)) lost.add(field)
    return extend(message, {
      tool_calls: signed ? tool_calls!.map((call) => extend(call, { extra_content: undefined })) : tool_calls,
      ...(isEmpty && { content: '' }),
      ...Object.fromEntries(removed.map((field) => [field, undefined])),
    })
  })
  for (const field of lost) notes.push({ field: `messages.${field}`, action: 'dropped' })
  return isOwnModel(model) ? moveMedia(clean) : clean
}

import type { Capability } from '@turnpike/core'

const vision: Capability[] = ['chat', 'tools', 'vision', 'json_schema']
const reasoning: Capability[] = [...vision, 'reasoning']

/** The listed models of the family with their capabilities. Unlisted ids can be requested as well. */
export const openaiCatalogue: Record<string, Capability[]> = {
  'gpt-4o-mini': vision,
  'gpt-4o': vision,
  'gpt-4.1': vision,
  'gpt-4.1-mini': vision,
  'gpt-4.1-nano': vision,
  'gpt-5': reasoning,
  'gpt-5-mini': reasoning,
  'gpt-5-nano': reasoning,
  'gpt-5.1': reasoning,
  'gpt-5.2': reasoning,
  'gpt-5.4': reasoning,
  'gpt-5.4-mini': reasoning,
  'gpt-5.5': reasoning,
  o3: reasoning,
  'o4-mini': reasoning,
  'text-embedding-3-small': ['embeddings'],
  'text-embedding-3-large': ['embeddings'],
  'text-embedding-ada-002': ['embeddings'],
  'gpt-image-2': ['images'],
  'dall-e-3': ['images'],
  'tts-1': ['speech'],
  'tts-1-hd': ['speech'],
  'whisper-1': ['transcription'],
}

/** Whether a model id matches the family: `gpt-…`, `chatgpt-…`, `o1`, `text-embedding-…`, `tts-…`, `whisper-…`, `dall-e-…`, also fine-tuned (`ft:…`). */
export const isOpenaiModel = (model: string): boolean =>
  /^(ft:)?(gpt-|chatgpt-|o\d|text-embedding-|tts-|whisper-|dall-e-)/.test(model)

/** Models that accept `max_completion_tokens` and reject `max_tokens` and penalties. */
export const isReasoningModel = (model: string): boolean => /^(ft:)?(o\d|gpt-(?!35)([5-9]|\d\d))/.test(model)

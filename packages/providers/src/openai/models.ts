import type { Capability, Model } from '@turnpike/core'

const vision: Capability[] = ['chat', 'tools', 'vision', 'json_schema']
const reasoning: Capability[] = [...vision, 'reasoning']

/** The chat models of the OpenAI family that are listed; ids that are not listed work as well. */
const catalogue: [id: string, capabilities: Capability[], released: string][] = [
  ['gpt-4o-mini', vision, '2024-07-18'],
  ['gpt-4o', vision, '2024-05-13'],
  ['gpt-4.1', vision, '2025-04-14'],
  ['gpt-4.1-mini', vision, '2025-04-14'],
  ['gpt-4.1-nano', vision, '2025-04-14'],
  ['gpt-5', reasoning, '2025-08-07'],
  ['gpt-5-mini', reasoning, '2025-08-07'],
  ['gpt-5-nano', reasoning, '2025-08-07'],
]

/** The catalogue of the family under a provider's id. */
export const openaiModels = (provider: string): Model[] =>
  catalogue.map(([id, capabilities, released]) => ({
    id,
    object: 'model',
    created: Date.parse(released) / 1000,
    owned_by: 'openai',
    provider,
    capabilities,
  }))

/** Ids of the family by their look: `gpt-…`, `chatgpt-…`, `o1`, `text-embedding-…`, `tts-…`, `whisper-…`, `dall-e-…`. */
export const isOpenaiModel = (model: string): boolean =>
  /^(gpt-|chatgpt-|o\d|text-embedding-|tts-|whisper-|dall-e-)/.test(model)

/** Models that take `max_completion_tokens` and refuse `max_tokens`. */
export const isReasoningModel = (model: string): boolean => /^(o\d|gpt-[5-9])/.test(model)

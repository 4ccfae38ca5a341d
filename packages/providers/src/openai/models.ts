import type { Capability, Model } from '@turnpike/core'

const vision: Capability[] = ['chat', 'tools', 'vision', 'json_schema']
const reasoning: Capability[] = [...vision, 'reasoning']

/** When the list below was drawn up, in seconds: what `created` says of every model. Source: models.dev, 2026-07-02. */
const CATALOGUED = Date.parse('2026-07-02') / 1000

/** The chat models of the family that are listed; ids that are not listed work as well. */
const catalogue: Record<string, Capability[]> = {
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
}

/** The catalogue of the family under a provider's id. */
export const openaiModels = (provider: string): Model[] =>
  Object.entries(catalogue).map(([id, capabilities]) => ({
    id,
    object: 'model',
    created: CATALOGUED,
    owned_by: 'openai',
    provider,
    capabilities,
  }))

/** Ids of the family by their look: `gpt-…`, `chatgpt-…`, `o1`, `text-embedding-…`, `tts-…`, `whisper-…`, `dall-e-…`. */
export const isOpenaiModel = (model: string): boolean =>
  /^(gpt-|chatgpt-|o\d|text-embedding-|tts-|whisper-|dall-e-)/.test(model)

/** Models that take `max_completion_tokens` and refuse `max_tokens`. */
export const isReasoningModel = (model: string): boolean => /^(o\d|gpt-[5-9])/.test(model)

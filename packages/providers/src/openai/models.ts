import type { Capability } from '@turnpike/core'

/** The base URL of OpenAI's API. */
export const OPENAI = 'https://api.openai.com/v1'

const vision: Capability[] = ['chat', 'tools', 'vision', 'json_schema']
const reasoning: Capability[] = [...vision, 'reasoning']
/** Chat Completions refuses their function tools, whatever the effort, which cannot be `none`; the Responses API takes them (OpenAI's changelog, September 2026). */
const toolless: Capability[] = ['chat', 'vision', 'json_schema', 'reasoning']

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
  'gpt-5.4-nano': reasoning,
  'gpt-5.5': reasoning,
  'gpt-5.6': reasoning,
  'gpt-5.6-sol': reasoning,
  'gpt-5.6-terra': reasoning,
  'gpt-5.6-luna': reasoning,
  'gpt-6-astra': toolless,
  'gpt-6-sol': reasoning,
  'gpt-6-luna': reasoning,
  'gpt-6.1-sol': toolless,
  'gpt-6.1-terra': reasoning,
  'gpt-6.2-astra': toolless,
  'gpt-6.2-sol': toolless,
  // It refuses what has no audio in it, and is asked for none.
  'gpt-audio-1.5': ['chat'],
  o3: reasoning,
  'o4-mini': reasoning,
  'text-embedding-3-small': ['embeddings'],
  'text-embedding-3-large': ['embeddings'],
  'text-embedding-ada-002': ['embeddings'],
  'gpt-image-2': ['images'],
  'gpt-image-2.5-flare': ['images'],
  'gpt-image-2.5-sunburst': ['images'],
  'gpt-image-2.6-flare': ['images'],
  'gpt-image-2.6-sunburst': ['images'],
  'dall-e-3': ['images'],
  'tts-1': ['speech'],
  'tts-1-hd': ['speech'],
  'gpt-4o-mini-tts': ['speech'],
  'whisper-1': ['transcription'],
  'gpt-4o-transcribe': ['transcription'],
  'gpt-4o-mini-transcribe': ['transcription'],
  'gpt-transcribe': ['transcription'],
}

const ofFamily = /^(ft:)?(gpt-|chatgpt-|o\d|text-embedding-|tts-|whisper-|dall-e-)/
const own = /^(ft:)?(gpt-(?!oss|neo|j-|sw3)|chatgpt-|chat-latest|o\d|codex-|computer-use)/

/** Whether a model id matches the family: `gpt-…`, `chatgpt-…`, `o1`, `text-embedding-…`, `tts-…`, `whisper-…`, `dall-e-…`, also fine-tuned (`ft:…`). */
export const isOpenaiModel = (model: string): boolean => ofFamily.test(model)

/** Whether a model is one of OpenAI's API. Not gpt-oss, which others serve, nor GPT-Neo, GPT-NeoX, GPT-J and GPT-SW3, which are others'. */
export const isOwnModel = (model: string): boolean => own.test(model)

import type { Capability } from '@turnpike/core'
import { invalid } from '@turnpike/core/internal'

/** The capabilities of all chat models of the family. */
export const capabilities: Capability[] = ['chat', 'tools', 'vision', 'json_schema', 'reasoning']

/** The listed chat models of the family with their capabilities. Unlisted ids can be requested as well. */
export const googleCatalogue: Record<string, Capability[]> = {
  'gemini-2.5-flash-lite': capabilities,
  'gemini-2.5-flash': capabilities,
  'gemini-2.5-pro': capabilities,
  'gemini-3-flash-preview': capabilities,
  'gemini-3.1-flash-lite': capabilities,
  'gemini-3.1-pro-preview': capabilities,
  'gemini-3.5-flash': capabilities,
  'gemini-3.5-flash-lite': capabilities,
  'gemini-3.6-flash': capabilities,
  'gemini-3.7-flash': capabilities,
  'gemini-3.8-flash': capabilities,
  'gemini-4-hydrogen': capabilities,
  'gemini-4-neon': capabilities,
  'gemini-4-argon': capabilities,
  'gemini-4-carbon': capabilities,
}

/** Whether a model id matches the family: `gemini-…`, `gemma-…`, both also with the prefix `models/`, and `tunedModels/…`. */
export const isGoogleModel = (model: string): boolean => /^((models\/)?(gemini|gemma)-|tunedModels\/)/.test(model)

/** The syntax of model ids. It is strict because the id becomes a part of the URL, where another path would be answered as a wrong base URL is. */
const modelId = /^((models|tunedModels)\/)?\w[\w.@-]*$/

/** The resource name of a model, such as `models/gemini-2.5-flash`. @throws ApiError 400 for an invalid id */
export function toName(model: string): string {
  if (!modelId.test(model)) throw invalid('No model of Gemini has such an id', { code: 'model_not_found' })
  return model.includes('/') ? model : `models/${model}`
}

/** The path of a method of a model. @throws ApiError 400 for an invalid id */
export const toPath = (model: string, method: string): string => `/${toName(model)}:${method}`

/** How thinking is configured: by a level (lowest first) or by a token budget. */
export type Thinking =
  | { by: 'level'; levels: string[] }
  | {
      by: 'budget'
      least: number
      most: number
      /** Whether a budget of 0 is accepted, which disables thinking. */
      off: boolean
    }

/** The features that a model supports. */
export interface Traits {
  /** Gemini 3 and later: calls in the history need a signature, and the JSON mode can be combined with tools. */
  gemini3: boolean
  /** Gemma supports neither system instructions nor the JSON mode. */
  gemma: boolean
  /** Whether it accepts penalties; Gemini 2.5 and later reject them. */
  penalties: boolean
  /** Undefined if thinking cannot be configured. */
  thinking: Thinking | undefined
}

function thinkingOf(name: string, version: number): Thinking | undefined {
  if (!(version >= 2.5) || /-(image|tts|live|embedding)/.test(name)) return undefined
  const pro = name.includes('-pro')
  if (version >= 3) {
    const levels = ['low', 'medium', 'high']
    // Flash rejects `minimal` since 3.7.
    return { by: 'level', levels: pro || version > 3.6 ? levels : ['minimal', ...levels] }
  }
  if (pro) return { by: 'budget', least: 128, most: 32_768, off: false }
  return { by: 'budget', least: name.includes('-lite') ? 512 : 0, most: 24_576, off: true }
}

/** Derives the features of a model from its id. */
export function traitsOf(model: string): Traits {
  const name = model.slice(model.lastIndexOf('/') + 1)
  const told = /^gemini-(\d+(\.\d+)?)/.exec(name)?.[1]
  // Aliases such as `gemini-flash-latest` refer to the newest version.
  const version = told ? Number(told) : /^gemini-.*latest$/.test(name) ? Infinity : NaN
  return {
    gemini3: version >= 3,
    gemma: name.startsWith('gemma-'),
    penalties: version < 2.5,
    thinking: thinkingOf(name, version),
  }
}

import type { Capability } from '@turnpike/core'
import { invalid } from '@turnpike/core/internal'
import type { Effort } from '../requests/request-fields.js'

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

const ofFamily = /^((models\/)?(gemini|gemma)-|tunedModels\/)/

/** Whether a model id matches the family: `gemini-…`, `gemma-…`, both also with the prefix `models/`, and `tunedModels/…`. */
export const isGoogleModel = (model: string): boolean => ofFamily.test(model)

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
  | { by: 'level'; levels: Effort[] }
  | {
      by: 'budget'
      least: number
      most: number
      /** Whether a budget of 0 is accepted, which disables thinking. */
      off: boolean
    }

/** The features that a model supports. */
export interface Traits {
  /** Gemini 3 and later: calls in the history need a signature, results may have images, and the JSON mode can be combined with tools. */
  gemini3: boolean
  /** Gemma supports neither system instructions nor the JSON mode. */
  gemma: boolean
  /** Whether it makes images; such models have neither tools nor a JSON mode (models.dev, November 2026). */
  image: boolean
  /** Whether it refuses videos, as models that make images do before 3.1 Flash Image (Google's changelog, May 2026). All of these refuse audio. */
  noVideo: boolean
  /** Whether it accepts penalties. */
  penalties: boolean
  /** Whether temperature, top_p and top_k have an effect. */
  sampling: boolean
  /** Whether a conversation may end with an answer, which it continues. */
  prefill: boolean
  /** Whether a call and its result must have the same id. */
  ids: boolean
  /** Undefined if thinking cannot be configured. */
  thinking: Thinking | undefined
}

/** The version since which a rule holds, and the ids that it is for. */
type Since = readonly [version: number, ids: RegExp]

const any = /./

/**
 * What changed with a version. Sources, read in November 2026: Google's pages on the latest models and its migration guides of Gemini 3.5 to 4
 * (thought signatures, ids of results, sampling parameters that are ignored, contents that end with a model's turn).
 */
const changes = {
  gemini3: [[3, any]],
  noPenalties: [[2.5, any]],
  // Sampling parameters are ignored, and are to be refused later.
  noSampling: [
    [3.5, /-lite/],
    [3.6, any],
  ],
  noPrefill: [
    [3.5, /-lite/],
    [3.6, any],
  ],
  ids: [[3.5, any]],
} satisfies Record<string, Since[]>

/** Thinking levels; of the rows that fit a model, the last counts. Source: Google's table of levels by model, and models.dev for images (November 2026). */
const levels: [...Since, Effort[]][] = [
  [3, any, ['minimal', 'low', 'medium', 'high']],
  [4, any, ['low', 'medium', 'high', 'xhigh']],
  [4, /-argon/, ['low', 'medium', 'high']],
  [3, /-pro/, ['low', 'high']],
  [3.1, /-pro/, ['low', 'medium', 'high']],
  [3, /-flash/, ['minimal', 'low', 'medium', 'high']],
  [3.7, /-flash/, ['low', 'medium', 'high']],
  [3, /-lite/, ['minimal', 'low', 'medium', 'high']],
  [3, /image|banana/, ['minimal', 'high']],
  [3, /-pro-image/, ['low', 'high']],
]

function thinkingOf(name: string, version: number): Thinking | undefined {
  if (!(version >= 2.5) || /-(tts|embedding)/.test(name)) return undefined
  const row = levels.findLast(([since, ids]) => version >= since && ids.test(name))
  if (row) return { by: 'level', levels: row[2] }
  if (name.includes('-image')) return undefined
  if (name.includes('-pro')) return { by: 'budget', least: 128, most: 32_768, off: false }
  return { by: 'budget', least: name.includes('-lite') ? 512 : 0, most: 24_576, off: true }
}

const bareName = (model: string): string => model.slice(model.lastIndexOf('/') + 1)

/** Models of the Live API, which answer over a WebSocket only. */
const live = /-(live|native-audio)/

/** @throws ApiError 400 for a model of the Live API */
export function refuseLive(model: string): void {
  if (live.test(bareName(model))) throw invalid('This model answers in the Live API only', { code: 'model_not_found' })
}

/** Derives the features of a model from its id. A version newer than those of the tables is treated as the newest of them. */
export function traitsOf(model: string): Traits {
  const name = bareName(model)
  const told = /^gemini-(\d+(\.\d+)?)/.exec(name)?.[1]
  // Aliases such as `gemini-flash-latest` refer to the newest version.
  const version = told ? Number(told) : /^gemini-(.*latest$|nano-banana)/.test(name) ? Infinity : NaN
  const has = (change: keyof typeof changes): boolean =>
    (changes[change] as Since[]).some(([since, ids]) => version >= since && ids.test(name))
  const image = /image|banana/.test(name)
  return {
    gemini3: has('gemini3'),
    gemma: name.startsWith('gemma-'),
    image,
    noVideo: image && !(version >= 3.1 && /-flash-image|banana/.test(name)),
    penalties: version > 0 && !has('noPenalties'),
    sampling: !has('noSampling'),
    prefill: !has('noPrefill'),
    ids: has('ids'),
    thinking: thinkingOf(name, version),
  }
}

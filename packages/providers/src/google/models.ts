import type { Capability } from '@turnpike/core'
import { ApiError } from '@turnpike/core'

/** What all chat models of the family can do. */
export const capabilities: Capability[] = ['chat', 'tools', 'vision', 'json_schema', 'reasoning']

/** The chat models of the family that are listed; ids that are not listed work as well. */
export const googleCatalogue: Record<string, Capability[]> = {
  'gemini-2.5-flash-lite': capabilities,
  'gemini-2.5-flash': capabilities,
  'gemini-2.5-pro': capabilities,
  'gemini-3-flash-preview': capabilities,
  'gemini-3.1-flash-lite': capabilities,
  'gemini-3.1-pro-preview': capabilities,
  'gemini-3.5-flash': capabilities,
}

/** Ids of the family by their look: `gemini-…`, `gemma-…`, also after `models/`, and `tunedModels/…`. */
export const isGoogleModel = (model: string): boolean => /^((models\/)?(gemini|gemma)-|tunedModels\/)/.test(model)

/** What a model id may be made of: it becomes a part of the URL. */
const modelId = /^\w[\w.@-]*(\/\w[\w.@-]*)*$/

/** A model as requests name it, such as `models/gemini-2.5-flash`. @throws ApiError 400 for an id that no model has */
export function toName(model: string): string {
  if (!modelId.test(model))
    throw new ApiError(400, 'invalid_request_error', 'No model of Gemini has such an id', { code: 'model_not_found' })
  return model.includes('/') ? model : `models/${model}`
}

/** Where a method of a model is. @throws ApiError 400 for an id that no model has */
export const toPath = (model: string, method: string): string => `/${toName(model)}:${method}`

/** How a model is told to think: by a level, lowest first, or by a budget of tokens. */
export type Thinking =
  | { by: 'level'; levels: string[] }
  | {
      by: 'budget'
      least: number
      most: number
      /** Whether a budget of 0 is taken, which turns thinking off. */
      off: boolean
    }

/** What a model of the family takes. */
export interface Traits {
  /** Gemini 3 and later: calls in a history need a signature, and JSON goes together with tools. */
  gemini3: boolean
  /** Gemma takes neither a system instruction nor a JSON mode. */
  gemma: boolean
  /** Whether it takes penalties; Gemini 2.5 and later refuse them. */
  penalties: boolean
  /** Undefined where it cannot be told how to think. */
  thinking: Thinking | undefined
}

function thinkingOf(name: string, version: number): Thinking | undefined {
  if (!(version >= 2.5) || /-(image|tts|live|embedding)/.test(name)) return undefined
  const pro = name.includes('-pro')
  if (version >= 3) {
    const levels = ['low', 'medium', 'high']
    // Flash refuses the least one from 3.7 on.
    return { by: 'level', levels: pro || version > 3.6 ? levels : ['minimal', ...levels] }
  }
  if (pro) return { by: 'budget', least: 128, most: 32_768, off: false }
  return { by: 'budget', least: name.includes('-lite') ? 512 : 0, most: 24_576, off: true }
}

/** Reads what a model takes off its id. */
export function traitsOf(model: string): Traits {
  const name = model.slice(model.lastIndexOf('/') + 1)
  const told = /^gemini-(\d+(\.\d+)?)/.exec(name)?.[1]
  // Names such as `gemini-flash-latest` move on with the family.
  const version = told ? Number(told) : /^gemini-.*latest$/.test(name) ? Infinity : NaN
  return {
    gemini3: version >= 3,
    gemma: name.startsWith('gemma-'),
    penalties: version < 2.5,
    thinking: thinkingOf(name, version),
  }
}

/** Reads an upstream's own list of models, which is not trusted. @module */
import type { Capability, Model, OwnModel } from '@turnpike/core'
import { isObject } from '@turnpike/core/helpers'
import { undated } from '@turnpike/core/internal'

/** Most characters of a model id: it is in usage records and in a response header. */
export const MODEL_ID_LENGTH = 256

/** Most models of a list that are read. The longest known lists have some 500. */
const MODELS = 2_000

/** Words without control, format and private characters, and halves of pairs, with single spaces between them. */
const WORDS = /^(?! )(?:[^\p{C}\p{Z}]| (?! |$))+$/u

/** Whether a value can be the id of a model. */
export const isModelId = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MODEL_ID_LENGTH && WORDS.test(value)

/** What is known of the models of a provider besides their ids. */
export interface Known {
  family: string
  provider: string
  /** The capabilities of models by their ids, wherever they are served. */
  catalogue: Readonly<Record<string, Capability[]>>
  /** What the configuration says of models, by their ids; default nothing. */
  own?: ReadonlyMap<string, OwnModel>
}

/** Makes the record of a model. @param created in seconds since 1970; 0 = unknown */
export function modelOf(
  id: string,
  { family, provider, catalogue, own }: Known,
  created = 0,
  owned_by = family,
): Model {
  const known = [id, undated(id)].find((one) => Object.hasOwn(catalogue, one))
  const {
    price,
    contextWindow: context_window,
    maxOutput: max_output_tokens,
    ...said
  }: Partial<OwnModel> = own?.get(id) ?? {}
  return {
    id,
    object: 'model',
    created,
    owned_by,
    provider,
    capabilities: said.capabilities ?? (known === undefined ? [] : catalogue[known]!),
    ...(context_window !== undefined && { context_window }),
    ...(max_output_tokens !== undefined && { max_output_tokens }),
    ...(price && { price }),
  }
}

/** Seconds since 1970, as OpenAI tells them, or as Anthropic does (`created_at`); 0 where neither is there. */
function timeOf({ created, created_at }: Record<string, unknown>): number {
  const seconds = typeof created_at === 'string' ? Math.floor(Date.parse(created_at) / 1000) : created
  return Number.isSafeInteger(seconds) && (seconds as number) >= 0 ? (seconds as number) : 0
}

/**
 * Reads the list of models of an upstream: OpenAI's and Anthropic's `{data: [{id}]}`, Google's `{models: [{name}]}`, or the list alone, as
 * Together has it. Of each model its id, time and owner are kept; entries without an id as callers can send it are left out, and so is what
 * comes after 2,000 models.
 * @throws TypeError if it is no list
 */
export function listedModels(body: object, known: Known): Model[] {
  const { data, models } = body as Record<string, unknown>
  // Ollama without models lists null.
  const entries = Array.isArray(body) ? body : data === null ? [] : (data ?? models)
  if (!Array.isArray(entries)) throw new TypeError('There is no list of models')
  const found = new Map<string, Model>()
  for (const entry of entries) {
    if (!isObject(entry)) continue
    const { id = entry['name'], owned_by } = entry
    const plain = typeof id === 'string' ? id.replace(/^models\//, '') : id
    if (!isModelId(plain) || found.has(plain)) continue
    found.set(plain, modelOf(plain, known, timeOf(entry), isModelId(owned_by) ? owned_by : undefined))
    if (found.size === MODELS) break
  }
  return [...found.values()]
}

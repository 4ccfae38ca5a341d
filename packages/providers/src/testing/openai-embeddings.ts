import { isObject, toBase64 } from '@turnpike/core/helpers'
import type { FakeAnswer, FakeRequest } from './fake-upstream.js'
import { json, refused } from './openai-answers.js'
import type { Refusal } from './openai-refusals.js'
import {
  checkChoices,
  checkNumbers,
  missing,
  modelNotFound,
  notJson,
  refuse,
  unknownParameter,
} from './openai-refusals.js'
import { toUnit, vectorOf } from './vectors.js'
import { tokens } from './simulation.js'

interface EmbeddingBody {
  model: string
  input: string | string[] | number[] | number[][]
  dimensions?: number | null
  encoding_format?: 'float' | 'base64' | null
}

/** The dimensions of each model. */
const models: Record<string, number> = {
  'text-embedding-3-small': 1_536,
  'text-embedding-3-large': 3_072,
  'text-embedding-ada-002': 1_536,
}

const MAX_INPUTS = 2_048
/** Maximum tokens of one input. */
const MAX_TOKENS = 8_192
/** Maximum tokens of all inputs together. */
const MAX_ALL_TOKENS = 300_000

const parameters = ['input', 'model', 'dimensions', 'encoding_format', 'user']

const invalidInput = refuse(
  "'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference.",
)

const isToken = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0
const isTokens = (value: unknown): value is number[] => Array.isArray(value) && value.length > 0 && value.every(isToken)
const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

/** One element for each vector. */
const inputsOf = (input: EmbeddingBody['input']): (string | number[])[] =>
  typeof input === 'string' || isTokens(input) ? [input] : (input as string[] | number[][])

const tokensOf = (input: string | number[]): number => (typeof input === 'string' ? tokens(input) : input.length)

function checkInput(input: unknown): Refusal | undefined {
  if (input === undefined || input === null) return missing('input')
  if (Array.isArray(input) && input.length > MAX_INPUTS && !isTokens(input))
    return refuse(
      `Invalid 'input': array too long. Expected an array with maximum length ${MAX_INPUTS}, but got an array with length ${input.length} instead.`,
      'input',
      'array_above_max_length',
    )
  const isList = Array.isArray(input) && input.length > 0 && (input.every(isText) || input.every(isTokens))
  if (!isText(input) && !isTokens(input) && !isList) return invalidInput
  const counts = inputsOf(input as EmbeddingBody['input']).map(tokensOf)
  const longest = Math.max(...counts)
  if (longest > MAX_TOKENS)
    return refuse(
      `This model's maximum context length is ${MAX_TOKENS} tokens, however you requested ${longest} tokens (${longest} in your prompt; 0 for the completion). Please reduce your prompt; or completion length.`,
    )
  const all = counts.reduce((sum, count) => sum + count, 0)
  return all > MAX_ALL_TOKENS
    ? refuse(`Requested ${all} tokens, max ${MAX_ALL_TOKENS} tokens per request`, null, 'max_tokens_per_request')
    : undefined
}

/** Validates an embeddings request; undefined if valid. */
export function openaiEmbeddingRefusal(body: unknown): Refusal | undefined {
  if (!isObject(body)) return notJson
  const { model, dimensions } = body
  const length = Object.hasOwn(models, model as string) ? models[model as string] : undefined
  const unknown = unknownParameter(Object.keys(body), parameters)
  if (unknown) return unknown
  if (length === undefined) return modelNotFound(model)
  if (model === 'text-embedding-ada-002' && dimensions !== undefined && dimensions !== null)
    return refuse('This model does not support specifying dimensions.')
  return (
    checkInput(body['input']) ??
    checkNumbers(body, [['dimensions', 1, length, true]]) ??
    checkChoices(body, { encoding_format: ['float', 'base64'] })
  )
}

/** Encodes a vector as little-endian 32-bit floats in base64. */
function packed(vector: number[]): string {
  const view = new DataView(new ArrayBuffer(vector.length * 4))
  for (const [i, value] of vector.entries()) view.setFloat32(i * 4, value, true)
  return toBase64(new Uint8Array(view.buffer))
}

/** The fake's POST /embeddings: a vector of length 1 for each input, the same one for the same text. */
export function openaiEmbeddings({ body: given }: FakeRequest): FakeAnswer {
  const refusal = openaiEmbeddingRefusal(given)
  if (refusal) return refused(refusal)
  const { model, input, dimensions, encoding_format } = given as EmbeddingBody
  const inputs = inputsOf(input)
  const data = inputs.map((one, index) => {
    const vector = toUnit(vectorOf(String(one), dimensions ?? models[model]!))
    return { object: 'embedding', index, embedding: encoding_format === 'base64' ? packed(vector) : vector }
  })
  const count = inputs.reduce((sum, one) => sum + tokensOf(one), 0)
  return json({ object: 'list', data, model, usage: { prompt_tokens: count, total_tokens: count } })
}

import { isObject } from '@turnpike/core/helpers'
import type { FakeAnswer } from './fake-upstream.js'
import { errorAnswer, json, refused } from './google-answers.js'
import { known } from './google-fields.js'
import type { Json, Problem } from './rules.js'
import { first, words } from './rules.js'
import { toUnit, vectorOf } from './vectors.js'

interface EmbedRequest {
  content: { parts: { text: string }[] }
  outputDimensionality?: number
}

const MAX_DIMENSIONS = 3_072
const MAX_REQUESTS = 100

const fields = words('model content taskType title outputDimensionality')

const taskTypes = words(
  `TASK_TYPE_UNSPECIFIED RETRIEVAL_QUERY RETRIEVAL_DOCUMENT SEMANTIC_SIMILARITY CLASSIFICATION CLUSTERING QUESTION_ANSWERING FACT_VERIFICATION
  CODE_RETRIEVAL_QUERY`,
)

function checkContent(content: unknown, prefix: string): Problem {
  const at = `${prefix}content`
  if (content === undefined) return `* EmbedContentRequest.${at}: content is required`
  const problem = known(content, ['parts', 'role'], at)
  if (problem) return problem
  const { parts } = content as Json
  if (!Array.isArray(parts) || parts.length === 0) return `* EmbedContentRequest.${at}: content is empty`
  return first(parts, (part, i) => {
    const unknownField = known(part, ['text'], `${at}.parts[${i}]`)
    if (unknownField) return unknownField
    const { text } = part as Json
    if (text === undefined || text === '') return 'Content contains an empty Part.'
    return typeof text === 'string' ? undefined : `Invalid value at '${at}.parts[${i}].text' (TYPE_STRING)`
  })
}

/** @param prefix prefix of field names, such as "requests[0]." */
function checkRequest(request: unknown, prefix = ''): Problem {
  const problem = known(request, fields, prefix.slice(0, -1))
  if (problem) return problem
  const { content, taskType, title, outputDimensionality: dimensions } = request as Json
  const wrong = checkContent(content, prefix)
  if (wrong) return wrong
  if (taskType !== undefined && !taskTypes.includes(taskType as string))
    return `Invalid value at '${prefix}task_type' (type.googleapis.com/google.ai.generativelanguage.v1beta.TaskType), "${String(taskType)}"`
  if (title !== undefined && taskType !== 'RETRIEVAL_DOCUMENT')
    return `* EmbedContentRequest.${prefix}title: title is only supported with task type RETRIEVAL_DOCUMENT`
  if (dimensions === undefined) return undefined
  if (!Number.isInteger(dimensions))
    return `Invalid value at '${prefix}output_dimensionality' (TYPE_INT32), ${JSON.stringify(dimensions)}`
  return (dimensions as number) < 1 || (dimensions as number) > MAX_DIMENSIONS
    ? `* EmbedContentRequest.${prefix}output_dimensionality: output_dimensionality must be in the range [1, ${MAX_DIMENSIONS}].`
    : undefined
}

const invalidBody = 'Invalid JSON payload received. Expected an object.'

/** Validates a request of embedContent; undefined if valid. */
export function googleEmbeddingRefusal(model: string, body: unknown): Problem {
  if (!isObject(body)) return invalidBody
  if (body['model'] !== undefined && body['model'] !== `models/${model}`)
    return '* EmbedContentRequest.model: model in the body must be that of the path'
  return checkRequest(body)
}

/** Validates a request of batchEmbedContents; undefined if valid. */
export function googleBatchEmbeddingRefusal(model: string, body: unknown): Problem {
  if (!isObject(body)) return invalidBody
  const problem = known(body, ['model', 'requests'])
  if (problem) return problem
  const { requests } = body
  if (!Array.isArray(requests) || requests.length === 0)
    return '* BatchEmbedContentsRequest.requests: requests is not specified'
  if (requests.length > MAX_REQUESTS)
    return `* BatchEmbedContentsRequest.requests: at most ${MAX_REQUESTS} requests can be in one batch`
  return first(requests, (request, i) => {
    const wrong = checkRequest(request, `requests[${i}].`)
    if (wrong) return wrong
    const { model: own } = request as Json
    if (own === undefined) return `* BatchEmbedContentsRequest.requests[${i}].model: model is required`
    return own === `models/${model}`
      ? undefined
      : `* BatchEmbedContentsRequest.requests[${i}].model: model must be that of the batch, models/${model}`
  })
}

/** A shortened vector is a prefix of the full one, so only the full vector has length 1. */
function embed({ content, outputDimensionality }: EmbedRequest): { values: number[] } {
  const text = content.parts.map((part) => part.text).join('\n')
  return { values: toUnit(vectorOf(text, MAX_DIMENSIONS)).slice(0, outputDimensionality) }
}

const isEmbeddingModel = (model: string): boolean => model.startsWith('gemini-embedding-')

const notFound = (model: string, method: string): FakeAnswer =>
  errorAnswer(
    404,
    'NOT_FOUND',
    `models/${model} is not found for API version v1beta, or is not supported for ${method}. Call ListModels to see the list of available models and their supported methods.`,
  )

/** The fake's embedContent: the same vector for the same text. */
export function googleEmbedding(model: string, body: unknown): FakeAnswer {
  if (!isEmbeddingModel(model)) return notFound(model, 'embedContent')
  const refusal = googleEmbeddingRefusal(model, body)
  return refusal ? refused(refusal) : json({ embedding: embed(body as EmbedRequest) })
}

/** The fake's batchEmbedContents: a vector for each request. */
export function googleBatchEmbedding(model: string, body: unknown): FakeAnswer {
  if (!isEmbeddingModel(model)) return notFound(model, 'batchEmbedContents')
  const refusal = googleBatchEmbeddingRefusal(model, body)
  return refusal ? refused(refusal) : json({ embeddings: (body as { requests: EmbedRequest[] }).requests.map(embed) })
}

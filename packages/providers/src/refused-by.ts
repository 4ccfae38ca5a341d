import type { UpstreamFailure } from '@turnpike/core'
import { isObject } from '@turnpike/core/internal'
import { refusesParameter } from './parameter-wordings.js'

/** What an upstream refused before it accepted anything, so that another one may take the request (ruling 52). */
type Refused = UpstreamFailure['refused']

/** Codes of a model that is not there: OpenAI, Azure, Together, Groq, GitHub Models, GLM. */
const modelCodes = [
  'model_not_found',
  'model_not_available',
  'model_decommissioned',
  'model_terms_required',
  'unavailable_model',
  'DeploymentNotFound',
  'OperationNotSupported',
  '1211',
]
/**
 * Its texts where the status is 400: DeepSeek ("Model Not Exist"), Mistral ("Invalid model: x"), OpenRouter ("x is not a valid model ID"), Bedrock
 * ("The provided model identifier is invalid", "on-demand throughput isn’t supported"), OpenAI ("The model `x` has been deprecated").
 */
const modelTexts = [
  /\bmodel\b[^.]{0,80}\b(not exist|not found|not available|is invalid|deprecated|decommissioned|retired)/i,
  /\bon-demand throughput isn.t supported|\bfailed to load model\b/i,
  /\bmodel ?['"`]?[\w./:-]{0,80}['"`]? is not supported/i,
  /\b(invalid|unknown|no such|not a valid|unsupported) model\b/i,
  /模型不存在/,
]

/** A fault in the messages themselves, by the parameter or by the text: "messages.0.content: …", "Invalid 'messages[1]…". */
const ofMessages = /^(invalid (value for )?)?['"`]?(messages|contents|system|prompt|input)\b/i
/** Refusals by a filter, whatever their form: OpenAI, Azure, Qwen, GLM; DeepSeek; guardrails of proxies. */
const filtered =
  /content_filter|content_policy|content management|responsible_?ai|safety system|data_inspection_failed|inappropriate content|content exists risk|guardrail/i

const includes = (list: string[], names: unknown[]): boolean => names.some((name) => list.includes(name as string))

/**
 * What an error of a caller refuses: the model, the length of the prompt, a parameter, or by a filter the content. Undefined for everything else, such
 * as a fault in the messages.
 * @param error the object that holds code, type and parameter
 */
export function refusedBy(status: number, text: string, error: Record<string, unknown>): Refused {
  const { code, type, param, detail } = error
  const names = [code, type, ...(Array.isArray(detail) ? detail.map((one) => isObject(one) && one['type']) : [])]
  if (filtered.test(text) || names.some((name) => typeof name === 'string' && filtered.test(name))) return 'content'
  if (status === 413) return 'length'
  if (status === 404 || status === 410 || includes(modelCodes, names) || modelTexts.some((form) => form.test(text)))
    return 'model'
  if (ofMessages.test(text) || (typeof param === 'string' && ofMessages.test(param))) return undefined
  return refusesParameter(text, names) ? 'parameter' : undefined
}

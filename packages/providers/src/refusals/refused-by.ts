import type { UpstreamFailure } from '@turnpike/core'
import { errorObject } from './error-text.js'
import { refusesParameter } from './parameter-wordings.js'

/** What an upstream refused before it accepted anything, so that another one may take the request. */
type Refused = UpstreamFailure['refused']

/** Codes of a model that is not there, or not for this account: OpenAI, Azure, Together, Groq, Volcengine, GLM. */
const modelCodes = [
  'model_not_found',
  'model_not_available',
  'model_decommissioned',
  'model_terms_required',
  'DeploymentNotFound',
  'InvalidEndpoint.ClosedEndpoint',
  '1211',
]
/**
 * Its texts where the status is 400: DeepSeek ("Model Not Exist"), Mistral ("Invalid model: x"), OpenRouter ("x is not a valid model ID"), Bedrock
 * ("The provided model identifier is invalid", "on-demand throughput isn't supported"), OpenAI ("The model `x` has been deprecated"), GitHub Models
 * ("Unavailable model: x"), MiniMax ("your current token plan not support model"), LM Studio ("Failed to load model"), Azure ("does not work with the
 * specified model").
 */
const modelTexts = [
  /\bmodel\b[^.]{0,80}\b(not exist|not found|not available|is invalid|deprecated|decommissioned|retired)/i,
  /\bmodel ?['"`]?[\w./:-]{0,80}['"`]? is not supported|on-demand throughput isn/i,
  /\b(invalid|unknown|unavailable|no such|not a valid|unsupported|not support|to load|not work with the specified) model\b/i,
  /模型不存在/,
]

/** A fault in the messages themselves, by the parameter or by the text: "messages.0.content: …", "Invalid 'messages[1]…". */
const ofMessages = /^(invalid (value for )?)?['"`]?(messages|contents|system|prompt|input(?!$))\b/i
/** Refusals by a filter, whatever their form: OpenAI, Azure, Bedrock, Qwen, GLM, DeepSeek, Kimi, MiniMax, OpenRouter. Not the ids of models for moderation. */
const filtered =
  /content_filter|content_policy|content management|content exists risk|responsible_?ai|safety system|data_inspection_failed|inappropriate content|guardrail|(?<!case.)sensitive|usage (?:polic|guideline)|high risk|flagged|(?<![-\w])moderation(?!-)|敏感/i

const includes = (list: string[], names: unknown[]): boolean => names.some((name) => list.includes(name as string))

/**
 * What an error of a caller refuses: the model, the length of the prompt, a parameter, or by a filter the content. Undefined for everything else, such
 * as a fault in the messages.
 * @param body parsed JSON, or a text that is none
 */
export function refusedBy(status: number, text: string, body: unknown): Refused {
  const { code, type, param } = errorObject(body)
  const names = [code, type]
  if (filtered.test(text) || names.some((name) => typeof name === 'string' && filtered.test(name))) return 'content'
  if (status === 413) return 'length'
  if (status === 403 && refusesParameter(body, names)) return 'parameter'
  // Any other 403 that is a caller's is about a file, which another account of the vendor may have.
  if ([403, 404, 410].includes(status) || includes(modelCodes, names) || modelTexts.some((form) => form.test(text)))
    return 'model'
  if (ofMessages.test(text) || (typeof param === 'string' && ofMessages.test(param))) return undefined
  return refusesParameter(body, names) ? 'parameter' : undefined
}

import { extend } from '@turnpike/core/helpers'
import { invalid } from '@turnpike/core/internal'
import type { ChatAdapter, ErrorAnswer, ErrorMeaning } from '../adapter.js'
import type { AnthropicOptions } from '../anthropic/index.js'
import { anthropicChat } from '../anthropic/index.js'
import { byModel, inPath } from '../models/by-model.js'
import { errorObject, errorText } from '../refusals/error-text.js'
import { faultOf } from '../refusals/failures.js'
import type { Names } from '../family.js'
import { openaiChat } from '../openai/chat.js'
import { withoutLosses } from '../refusals/refused-parameters.js'
import { retryAfter } from '../upstream/retry-after.js'

/** What the ids of models and profiles consist of: `us.anthropic.claude-sonnet-4-5-20250929-v1:0`, `arn:aws:bedrock:…:inference-profile/…`. */
const ID = /^\w[\w.:/-]*$/

/** The types of errors that say, with whatever status, that the credential is wrong or may not do this. */
const denied =
  /^(AccessDenied|NotAuthorized|ExpiredToken|IncompleteSignature|InvalidSignature|InvalidClientToken|MissingAuthentication|UnrecognizedClient)/

/** What Bedrock writes before the words of a model. */
const PREFIX = /^The model returned the following errors: /

/** Parses `{message}`, whose type is in a header, and errors of OpenAI's form. Its own types are its codes. */
function errors(answer: ErrorAnswer): ErrorMeaning {
  const { header, body } = answer
  const { code } = errorObject(body)
  const type = header('x-amzn-errortype')?.split(':', 1)[0]
  const message = errorText(body)?.replace(PREFIX, '')
  return {
    message,
    ...faultOf(answer, message, denied.test(type ?? '')),
    code: type ?? (typeof code === 'string' ? code : undefined),
    retryAfter: retryAfter(header('retry-after')),
  }
}

/** Fields of a request that Claude has at Anthropic only. */
const elsewhere = ['user', 'safety_identifier', 'service_tier']

/** Whether a model is a Claude, by its id or within the id of a profile. */
export const isClaude = (model: string): boolean => /(^|[./])claude-/.test(model)

/**
 * The adapter of Bedrock: Claude by InvokeModel, all other models by Chat Completions.
 * @param maxOutput see {@link AnthropicOptions}
 */
export function bedrockChat(
  provider: string,
  { nameOf, ownOutput }: Names,
  maxOutput?: AnthropicOptions['maxOutput'],
): ChatAdapter {
  const messages = anthropicChat(provider, maxOutput, ownOutput)
  // Its servers have no rules by their address.
  const completions = openaiChat(provider, { baseURL: 'https://amazonaws.com' })

  /** @throws ApiError 400 for an id that none has, which could change the path */
  const idOf = (model: string): string => {
    const id = nameOf(model)
    if (!ID.test(id)) throw invalid('No model of Bedrock has such an id', { code: 'model_not_found' })
    return id
  }

  const claude: ChatAdapter = extend(messages, {
    request(request) {
      const { request: left, notes } = withoutLosses(request, elsewhere)
      const made = messages.request(left)
      const beta = made.headers?.['anthropic-beta']
      const method = request.stream ? 'invoke-with-response-stream' : 'invoke'
      return {
        path: `/model/${encodeURIComponent(idOf(request.model))}/${method}`,
        body: extend(inPath(made.body!, 'bedrock-2023-05-31'), {
          anthropic_beta: beta && [beta],
          stream: undefined,
        }),
        notes: [...notes, ...made.notes],
        maxOutput: made.maxOutput,
        ...(request.stream && { headers: { accept: 'application/vnd.amazon.eventstream' } }),
      }
    },
  } satisfies Partial<ChatAdapter>)

  const others: ChatAdapter = extend(completions, {
    request(request, refused) {
      const made = completions.request(request, refused)
      return extend(made, { path: `/openai/v1${made.path}`, body: extend(made.body!, { model: idOf(request.model) }) })
    },
  } satisfies Partial<ChatAdapter>)

  return byModel((model) => (isClaude(model) ? claude : others), {
    errors,
    usage: (body) => ((body as { type?: unknown }).type === 'message' ? messages : completions).usage(body),
  })
}

/** Azure OpenAI: the models of the OpenAI family that a resource has deployed, by its v1 API or its dated API. @module */
import type { ChatProvider, OwnModel } from '@turnpike/core'
import { checkOptions, extend } from '@turnpike/core/helpers'
import { invalid } from '@turnpike/core/internal'
import type { ChatAdapter } from './adapter.js'
import type { ApiKey, FamilyOptions, Names } from './family.js'
import { checkAddress, common, familyProvider } from './family.js'
import { named } from './models/named.js'
import type { ChatOptions } from './openai/chat.js'
import { openaiChat } from './openai/chat.js'
import { embeddings } from './openai/embeddings.js'
import { images } from './openai/images.js'
import { isOpenaiModel, openaiCatalogue } from './openai/models.js'
import { speech } from './openai/speech.js'
import { transcription } from './openai/transcription.js'
import type { Endpoints } from './provider.js'
import type { Refusals } from './refusals/refusals.js'
import { fetchTransport } from './upstream/transport.js'
import type { Upstream } from './upstream/upstream.js'
import { nameAt } from './upstream/upstream.js'

/** Options of {@link azure}. Either `apiKey` or `token` must be set. */
export interface AzureOptions extends Omit<FamilyOptions, 'baseURL'>, Pick<ChatOptions, 'thinkTags'> {
  /** The endpoint of the resource, such as `https://my-resource.openai.azure.com`; `/openai` and `/openai/v1` at its end make no difference. */
  baseURL: string
  /** A key of the resource, or a function that gives it; sent as `api-key`. */
  apiKey?: ApiKey | undefined
  /**
   * A token of Microsoft Entra ID, which is sent as a bearer token: a function, as it expires.
   * @example getBearerTokenProvider(new DefaultAzureCredential(), 'https://cognitiveservices.azure.com/.default') // of @azure/identity
   */
  token?: ApiKey | undefined
  /** The date of an API version, such as `2024-10-21`: the dated API, with the deployment in the path. Default the v1 API, which needs none. */
  apiVersion?: string
  /** The deployments by the ids of models that callers use, in short for `models` with `upstream`. Default: a deployment is called as its model is. */
  deployments?: Readonly<Record<string, string>>
  /**
   * The ids of the models, or `live`; default those of `deployments`. Azure does not list deployments but all models that a resource could
   * deploy, so `live` tells too much. Other ids can be requested as well.
   */
  models?: readonly (string | OwnModel)[] | 'live'
}

/** What a path can hold: the names of deployments have letters, digits, `-`, `_` and `.` only. */
const NAME = /^\w[\w.-]*$/

const VERSION = /^\d{4}-\d\d-\d\d(-preview)?$/

/** The path of a deployment in the dated API. @throws ApiError 400 for a name that none has */
function pathOf(deployment: string): string {
  if (!NAME.test(deployment)) throw invalid('No deployment has such a name', { code: 'model_not_found' })
  return `/deployments/${deployment}`
}

/**
 * Creates a provider of a resource of Azure OpenAI.
 * @throws TypeError that names the option which is wrong
 * @example azure({ baseURL: 'https://my-resource.openai.azure.com', apiKey, deployments: { 'gpt-4o': 'my-gpt-4o' } })
 */
export function azure(options: AzureOptions): ChatProvider {
  checkOptions<AzureOptions>('azure', options, {
    ...common,
    baseURL: true,
    token: false,
    apiVersion: false,
    deployments: false,
    thinkTags: false,
  })
  const { baseURL, apiKey, token, apiVersion, deployments = {}, thinkTags = false, ...rest } = options
  const { models = Object.keys(deployments), transport = fetchTransport() } = rest
  checkAddress('azure', baseURL)
  if (apiKey !== undefined && token !== undefined)
    throw new TypeError('azure: only one of the options "apiKey" and "token" can be set')
  if (apiVersion !== undefined && !VERSION.test(apiVersion))
    throw new TypeError(
      `azure: the option "apiVersion" must be a date, such as 2024-10-21, and not "${apiVersion}"; the v1 API needs none`,
    )
  const isDated = apiVersion !== undefined
  for (const name of Object.values(deployments))
    if (!NAME.test(name)) throw new TypeError('azure: the option "deployments" must have names of deployments')

  const chatOf = (provider: string, names: Names): ChatAdapter => {
    // Every host of Azure has the rules of this one.
    const chat = named(openaiChat(provider, { baseURL: 'https://openai.azure.com', thinkTags }), names)
    if (!isDated) return chat
    return extend(chat, {
      request(request, refused) {
        const made = chat.request(request, refused)
        return extend(made, { path: pathOf(names.nameOf(request.model)) + made.path })
      },
    } satisfies Partial<ChatAdapter>)
  }

  const endpointsOf = (upstream: Upstream, refusals: Refusals): Endpoints => {
    const at = (model: string): Upstream =>
      isDated ? extend(upstream, { baseURL: upstream.baseURL + pathOf(nameAt(upstream, { model })) }) : upstream
    return {
      embeddings: async (request, call) => embeddings(at(request.model), refusals)(request, call),
      images: async (request, call) => images(at(request.model))(request, call),
      speech: async (request, call) => speech(at(request.model))(request, call),
      transcription: async (request, call) => transcription(at(request.model))(request, call),
    }
  }

  return familyProvider(
    {
      id: 'azure',
      baseURL: `${baseURL.replace(/\/+$/, '').replace(/\/openai(\/v1)?$/, '')}/openai${isDated ? '' : '/v1'}`,
      options: {},
      credential: (key) => (token === undefined ? { 'api-key': key } : { authorization: `Bearer ${key}` }),
      chat: chatOf,
      endpoints: endpointsOf,
      catalogue: openaiCatalogue,
      upstream: deployments,
      modelsPath: '/models',
      owns: isOpenaiModel,
    },
    {
      ...rest,
      apiKey: token ?? apiKey,
      models,
      transport: isDated
        ? (request) => transport(extend(request, { url: `${request.url}?api-version=${apiVersion}` }))
        : transport,
    },
  )
}

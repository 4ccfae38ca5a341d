/** Vertex AI: Gemini and Claude at Google Cloud, by a service account, by tokens or by an API key. @module */
import type { Capability, ChatProvider, EmbeddingRequest, OwnModel } from '@turnpike/core'
import { checkOptions, extend, unset } from '@turnpike/core/helpers'
import { invalid } from '@turnpike/core/internal'
import type { ChatAdapter, ErrorAnswer, ErrorMeaning } from '../adapter.js'
import type { AnthropicOptions } from '../anthropic/index.js'
import { anthropicChat } from '../anthropic/index.js'
import { errors as anthropicErrors } from '../anthropic/errors.js'
import { anthropicCapabilities } from '../anthropic/models.js'
import { byModel, inPath } from '../models/by-model.js'
import { asCallersKnow } from '../refusals/failures.js'
import type { ApiKey, FamilyOptions, Names } from '../family.js'
import { common, familyProvider } from '../family.js'
import { canEmbed, embeddings } from '../google/embeddings.js'
import { endpointsCatalogue } from '../google/endpoints.js'
import { errors as googleErrors } from '../google/errors.js'
import { images } from '../google/images.js'
import type { GoogleOptions } from '../google/index.js'
import { googleChat } from '../google/index.js'
import { googleCatalogue, isGoogleModel } from '../google/models.js'
import { keptToken } from '../upstream/kept-token.js'
import { idOf } from '../models/own-models.js'
import type { Endpoints } from '../provider.js'
import { Secrets } from '../refusals/secrets.js'
import { fetchTransport } from '../upstream/transport.js'
import type { Upstream } from '../upstream/upstream.js'
import { embeddingMethod } from './embeddings.js'
import type { ServiceAccountKey } from './service-account.js'
import { askForToken, checkServiceAccount, linesOf } from './service-account.js'

export type { ServiceAccountKey } from './service-account.js'

/** Options of {@link vertex}. One of `credentials`, `token` and `apiKey` must be set. */
export interface VertexOptions
  extends Omit<FamilyOptions, 'models'>, Pick<AnthropicOptions, 'maxOutput'>, Pick<GoogleOptions, 'remoteContent'> {
  /** The id of the project; default that of `credentials`. Without one, only Gemini by `apiKey` (express mode). */
  project?: string | undefined
  /** A region such as `us-east5`, a multi-region (`us`, `eu`), or `global`, the default. */
  location?: string
  /** The base URL, without a version; default the endpoint of the location. */
  baseURL?: string | undefined
  /** The key of a service account. Its tokens are kept until a minute before they expire. */
  credentials?: ServiceAccountKey | undefined
  /**
   * An access token, as a function as it expires: for workload identity and Application Default Credentials.
   * @example () => auth.getAccessToken() // of google-auth-library: new GoogleAuth({ scopes: 'https://www.googleapis.com/auth/cloud-platform' })
   */
  token?: ApiKey | undefined
  /** An API key of Google Cloud, with which Gemini can be called. */
  apiKey?: ApiKey | undefined
  /** The ids of the models; default the Gemini models of the built-in catalogue. Other ids can be requested as well. */
  models?: readonly (string | OwnModel)[]
}

const PROJECT = /^[a-z0-9][a-z0-9.:-]*$/
const LOCATION = /^[a-z]+(-[a-z]+\d+)?$/
/** The ids of Claude's models, such as `claude-opus-4-5@20251101`. The id becomes a part of the path. */
const ID = /^\w[\w.@-]*$/

const isClaude = (model: string): boolean => model.startsWith('claude-')

/** Parses errors of Google's form, and Claude's own. A model that the location does not have is refused with 400, as a project that may not call is. */
function errors(answer: ErrorAnswer): ErrorMeaning {
  if ((answer.body as { type?: unknown }).type === 'error') return anthropicErrors(answer)
  const meaning = googleErrors(answer)
  if (answer.status !== 400 || !meaning.message?.includes('not servable')) return meaning
  const message = `The model is not available in the location: ${meaning.message}`
  return { ...meaning, message, caller: true, credential: false }
}

/** The endpoint of a location (Google's "Deployments and endpoints"). */
function endpointOf(location: string): string {
  if (location === 'global') return 'https://aiplatform.googleapis.com'
  const isMultiRegion = location === 'us' || location === 'eu'
  return `https://${isMultiRegion ? `aiplatform.${location}.rep` : `${location}-aiplatform`}.googleapis.com`
}

/** What the models that are listed can do, and those that are named. */
const catalogueOf = (models: readonly (string | OwnModel)[] = []): Record<string, Capability[]> => ({
  ...googleCatalogue,
  ...endpointsCatalogue,
  'text-embedding-005': ['embeddings'],
  'text-multilingual-embedding-002': ['embeddings'],
  ...Object.fromEntries(
    models
      .map(idOf)
      .filter(isClaude)
      .map((id) => [id, anthropicCapabilities]),
  ),
})

/**
 * Creates a provider of Vertex AI.
 * @throws TypeError that names the option which is wrong
 * @example vertex({ credentials: JSON.parse(readFileSync('key.json', 'utf8')), location: 'europe-west1', models: ['gemini-2.5-pro', 'claude-opus-4-5@20251101'] })
 */
export function vertex(options: VertexOptions): ChatProvider {
  checkOptions<VertexOptions>('vertex', options, {
    ...common,
    project: false,
    location: false,
    credentials: false,
    token: false,
    maxOutput: false,
    remoteContent: false,
  })
  const { credentials, token, apiKey, location = 'global', ...others } = options
  const { project = credentials?.project_id, baseURL, maxOutput, remoteContent, ...rest } = others
  const { transport = fetchTransport(), id = 'vertex', models } = rest
  if (credentials !== undefined) checkServiceAccount(credentials)
  if ([credentials, token, apiKey].filter((one) => one !== undefined).length > 1)
    throw new TypeError('vertex: only one of the options "credentials", "token" and "apiKey" can be set')
  if (project === undefined && (apiKey === undefined || location !== 'global')) throw unset('vertex', 'project')
  if (project !== undefined && !PROJECT.test(project))
    throw new TypeError('vertex: the option "project" must be the id of a project')
  if (!LOCATION.test(location)) throw new TypeError('vertex: the option "location" must be a region, us, eu or global')
  if (models !== undefined && !Array.isArray(models))
    throw new TypeError('vertex: the option "models" must be a list of ids')

  /** The path of a publisher's models in a version of the API. */
  const at = (version: string, publisher: string): string =>
    `/${version}${project === undefined ? '' : `/projects/${project}/locations/${location}`}/publishers/${publisher}`

  const chatOf = (provider: string, { nameOf, ownOutput }: Names): ChatAdapter => {
    const google = googleChat(provider, remoteContent, nameOf)
    const messages = anthropicChat(provider, maxOutput, ownOutput)
    const gemini: ChatAdapter = extend(google, {
      request(request) {
        const made = google.request(request)
        return extend(made, { path: at('v1beta1', 'google') + made.path })
      },
    } satisfies Partial<ChatAdapter>)
    const claude: ChatAdapter = extend(messages, {
      request(request) {
        const { stream } = request
        const model = nameOf(request.model)
        if (!ID.test(model) || project === undefined)
          throw invalid('There is no such model of Claude', { code: 'model_not_found' })
        const made = messages.request(request)
        return extend(made, {
          path: `${at('v1', 'anthropic')}/models/${model}:${stream ? 'streamRawPredict' : 'rawPredict'}`,
          body: inPath(made.body!, 'vertex-2023-10-16'),
        })
      },
    } satisfies Partial<ChatAdapter>)
    return byModel((model) => (isClaude(model) ? claude : gemini), {
      errors: asCallersKnow(errors, project === undefined ? [] : [{ id: '[redacted]', upstream: project }]),
      usage: (body) => ((body as { type?: unknown }).type === 'message' ? messages : google).usage(body),
    })
  }

  const endpointsOf = (upstream: Upstream): Endpoints => {
    const google = extend(upstream, { baseURL: upstream.baseURL + at('v1beta1', 'google') })
    return {
      embeddings: embeddings(google, embeddingMethod),
      textsPerCall: (model) => embeddingMethod(model).batch,
      images: images(google),
      fits: ({ task, request }) => task !== 'embeddings' || canEmbed(request as EmbeddingRequest),
    }
  }

  const secrets = new Secrets()
  if (credentials) secrets.keep(...linesOf(credentials))
  return familyProvider(
    {
      id: 'vertex',
      secrets,
      baseURL: baseURL ?? endpointOf(location),
      options: {},
      credential: (key) => (apiKey === undefined ? { authorization: `Bearer ${key}` } : { 'x-goog-api-key': key }),
      chat: chatOf,
      endpoints: endpointsOf,
      catalogue: catalogueOf(models),
      owns: (model) => isGoogleModel(model) || /^claude-[\w-]+@/.test(model),
    },
    {
      ...rest,
      apiKey: credentials ? keptToken(() => askForToken(credentials, id, transport)) : (token ?? apiKey),
    },
  )
}

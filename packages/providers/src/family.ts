import type { Capability, ChatProvider, Model, OwnModel } from '@turnpike/core'
import type { OptionNames } from '@turnpike/core/helpers'
import { checkOptions, extend, parseUrl, unset } from '@turnpike/core/helpers'
import { asCallersKnow } from './refusals/failures.js'
import { checkHeaders, HEADER_VALUE } from './upstream/headers.js'
import { idOf, ownModels } from './models/own-models.js'
import { listedModels, modelOf } from './models/upstream-models.js'
import type { ProviderOptions } from './provider.js'
import { createProvider } from './provider.js'
import type { Transport } from './upstream/transport.js'
import { fetchTransport } from './upstream/transport.js'
import type { UpstreamLimits } from './upstream/upstream.js'

/**
 * The credential of an API in visible ASCII, or a function that gives it, such as a token that expires. The function is called for each request
 * that is sent, so it keeps a token until that expires. Where it fails or gives none, nothing is sent, and the provider counts as unavailable.
 */
export type ApiKey = string | (() => MaybeKey | Promise<MaybeKey>)

/** Clients of authorization servers, such as google-auth-library, have null or undefined where there is no token. */
type MaybeKey = string | null | undefined

/** Options common to all families. */
export interface FamilyOptions {
  /**
   * The key of the API, or a function that gives it. Absent or empty = no key is sent, which only a server at another address than the vendor's
   * allows; undefined, as a variable of the environment that is not set, is an error.
   */
  apiKey?: ApiKey | undefined
  /** The base URL of the API. */
  baseURL?: string | undefined
  /**
   * Its models, each by its id or with what is known of it, or `live`: those that the upstream lists (`GET /models`), at most 2,000. Default the built-in
   * catalogue at the vendor's own address, `live` at any other. Other ids can be requested as well (docs/routing.md).
   * @example ['gpt-4o-mini', { id: 'llama-3.3-70b', price: { input: 0.2, output: 0.4 }, contextWindow: 131_072 }]
   */
  models?: readonly (string | OwnModel)[] | 'live'
  /**
   * Further headers of its requests, such as `{ 'X-Team': 'search' }`, in visible ASCII. Their values are kept out of errors and logs. A header that
   * the adapter sends itself, such as `Authorization` or `Content-Type`, is an error.
   */
  headers?: Readonly<Record<string, string>> | undefined
  /** The id of the provider in requests; default the name of the family. */
  id?: string
  /** The HTTP client; default {@link fetchTransport}. On Node, `undiciTransport()` needs a fraction of its CPU time. */
  transport?: Transport
  /** Limits of upstream responses. */
  limits?: UpstreamLimits
}

/** What is needed to name a model as its upstream does. */
export interface Names {
  /** The upstream's own name of a model; default its id. */
  nameOf: (model: string) => string
  /** The most tokens of an answer, as the configuration says. */
  ownOutput: (model: string) => number | undefined
}

/** The definition of a family. */
export interface Family<Options extends FamilyOptions> extends Pick<
  ProviderOptions,
  'owns' | 'endpoints' | 'authorize' | 'modelsPath' | 'secrets'
> {
  id: string
  baseURL: string
  /** The names of the options that only this family has. */
  options: OptionNames<Omit<Options, keyof FamilyOptions>>
  /** The authentication headers. */
  credential(apiKey: string): Record<string, string>
  /** Further headers; default none. */
  headers?: Record<string, string>
  /** Names of models at the upstream, by their ids, besides those in `models`; default none. */
  upstream?: Readonly<Record<string, string>>
  /** @param names the upstream's own names of models */
  chat(provider: string, names: Names): ProviderOptions['chat']
  /** The capabilities of each listed model by its id. */
  catalogue: Record<string, Capability[]>
}

/** The date of the sources of the models that are listed, and of their limits and prices. */
export const CATALOGUE_DATE = '2026-11-27'

/** @throws TypeError, which does not contain it */
function checkKey(key: unknown, must: string): asserts key is string {
  if (typeof key !== 'string' || !HEADER_VALUE.test(key))
    throw new TypeError(`${must} visible ASCII characters, without a space or line break at its end`)
}

/** The names of the options that all families have. */
export const common: OptionNames<FamilyOptions> = {
  apiKey: false,
  baseURL: false,
  models: false,
  headers: false,
  id: false,
  transport: false,
  limits: false,
}

/** Lists the models of a family for a provider id. */
export const listModels = (family: string, provider: string, catalogue: Record<string, Capability[]>): Model[] =>
  Object.keys(catalogue).map((id) => modelOf(id, { family, provider, catalogue }, Date.parse(CATALOGUE_DATE) / 1000))

/** @returns the host of the address of an API @throws TypeError */
export function checkAddress(family: string, baseURL: string): string {
  const url = parseUrl(baseURL)
  if (!url || !/^https?:$/.test(url.protocol))
    throw new TypeError(`${family}: the option "baseURL" must be a URL that begins with http:// or https://`)
  return url.hostname
}

/** Checks the options but for models and headers. @returns whether the address is the vendor's own. @throws TypeError that names the option */
function isAtVendor<Options extends FamilyOptions>(family: Family<Options>, options: Options): boolean {
  const { id } = family
  checkOptions<FamilyOptions>(id, options, { ...common, ...family.options })
  const { apiKey = '', baseURL = family.baseURL } = options
  const [host, own] = [checkAddress(id, baseURL), checkAddress(id, family.baseURL)]
  const isVendor = host === own || host.endsWith(`.${own}`)
  if (typeof apiKey !== 'function') checkKey(apiKey, `${id}: the option "apiKey" must be`)
  const isUnset = 'apiKey' in options && options.apiKey === undefined
  if (isUnset || (isVendor && apiKey === '' && !family.authorize)) throw unset(id, 'apiKey')
  return isVendor
}

/** Creates a provider of a family. @throws TypeError that names the option which is wrong */
export function familyProvider<Options extends FamilyOptions>(family: Family<Options>, options: Options): ChatProvider {
  const isVendor = isAtVendor(family, options)
  const { apiKey, baseURL = family.baseURL, id = family.id, transport = fetchTransport(), limits } = options
  const { models = isVendor ? undefined : 'live' } = options
  const own = ownModels(family.id, models, family.upstream)
  const known = { family: family.id, provider: id, catalogue: family.catalogue, own }
  const isStatic = typeof apiKey !== 'function'
  const nameOf = (model: string): string => own.get(model)?.upstream ?? model
  const chat = family.chat(id, { nameOf, ownOutput: (model) => own.get(model)?.maxOutput })
  return createProvider({
    id,
    baseURL: baseURL.replace(/\/+$/, ''),
    headers: {
      ...checkHeaders(family.id, options.headers, { ...family.headers, ...family.credential('') }),
      ...family.headers,
      ...(isStatic && apiKey && family.credential(apiKey)),
      'user-agent': 'turnpike',
    },
    authorize: isStatic
      ? family.authorize
      : async () => {
          const key = (await apiKey()) || undefined
          checkKey(key, `${family.id}: the option "apiKey" must return`)
          return family.credential(key)
        },
    chat: extend(chat, { errors: asCallersKnow(chat.errors, own.values()) }),
    nameOf,
    own,
    endpoints: family.endpoints,
    models:
      models === 'live'
        ? (body) => listedModels(body, known)
        : (models?.map((model) => modelOf(idOf(model), known)) ?? listModels(family.id, id, family.catalogue)),
    listsAll: models !== undefined,
    modelsPath: family.modelsPath,
    owns: family.owns,
    secrets: family.secrets,
    transport,
    limits,
  })
}

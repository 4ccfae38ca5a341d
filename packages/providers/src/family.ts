import type { Capability, Model, Provider } from '@turnpike/core'
import type { ProviderOptions } from './provider.js'
import { createProvider } from './provider.js'
import type { Transport } from './transport.js'
import { fetchTransport } from './transport.js'
import type { UpstreamLimits } from './upstream.js'

/** Options common to all families. */
export interface FamilyOptions {
  apiKey: string
  /** The base URL of the API. */
  baseURL?: string
  /** The id of the provider in requests; default the name of the family. */
  id?: string
  /** The HTTP client; default {@link fetchTransport}. On Node, `undiciTransport()` needs a fraction of its CPU time. */
  transport?: Transport
  /** Limits of upstream responses. */
  limits?: UpstreamLimits
}

/** The definition of a family. */
interface Family extends Pick<ProviderOptions, 'owns' | 'endpoints'> {
  id: string
  baseURL: string
  /** The authentication headers. */
  headers(apiKey: string): Record<string, string>
  chat(provider: string): ProviderOptions['chat']
  /** The capabilities of each listed model by its id. */
  catalogue: Record<string, Capability[]>
  /** Path of the upstream's own list of models. */
  modelsPath: string
}

/** The date of the sources of the models that are listed, and of their limits and prices. */
export const CATALOGUE_DATE = '2026-11-27'

/** Lists the models of a family for a provider id. */
export const listModels = (family: string, provider: string, catalogue: Record<string, Capability[]>): Model[] =>
  Object.entries(catalogue).map(([id, capabilities]) => ({
    id,
    object: 'model',
    created: Date.parse(CATALOGUE_DATE) / 1000,
    owned_by: family,
    provider,
    capabilities,
  }))

/** Creates a provider of a family. */
export function familyProvider(family: Family, options: FamilyOptions): Provider {
  const { apiKey, baseURL = family.baseURL, id = family.id, transport = fetchTransport(), limits } = options
  return createProvider({
    id,
    baseURL: baseURL.replace(/\/+$/, ''),
    headers: { ...family.headers(apiKey), 'user-agent': 'turnpike' },
    chat: family.chat(id),
    endpoints: family.endpoints,
    models: listModels(family.id, id, family.catalogue),
    modelsPath: family.modelsPath,
    owns: family.owns,
    transport,
    limits,
  })
}

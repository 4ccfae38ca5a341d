import type { Capability, Model, Provider } from '@turnpike/core'
import type { ProviderOptions } from './provider.js'
import { createProvider } from './provider.js'
import type { Transport } from './transport.js'
import { fetchTransport } from './transport.js'
import type { UpstreamLimits } from './upstream.js'

/** What the makers of all families take. */
export interface FamilyOptions {
  apiKey: string
  /** Where the API is. */
  baseURL?: string
  /** How callers name this provider; default the family's own name. */
  id?: string
  /** How bytes leave; default {@link fetchTransport}. On Node, `undiciTransport()` costs a fraction of it. */
  transport?: Transport
  /** Bounds on what the upstream may send. */
  limits?: UpstreamLimits
}

/** A family, apart from where and by whom it is called. */
interface Family extends Pick<ProviderOptions, 'owns' | 'endpoints'> {
  id: string
  baseURL: string
  /** The headers that carry the key. */
  headers(apiKey: string): Record<string, string>
  chat(provider: string): ProviderOptions['chat']
  /** By id, what each listed model can do. */
  catalogue: Record<string, Capability[]>
}

/** When the catalogues were drawn up, in seconds: what `created` says of every model. Source: models.dev, 2026-07-02. */
const CATALOGUED = 1_782_950_400

/** The catalogue of a family under a provider's id. */
export const listModels = (family: string, provider: string, catalogue: Record<string, Capability[]>): Model[] =>
  Object.entries(catalogue).map(([id, capabilities]) => ({
    id,
    object: 'model',
    created: CATALOGUED,
    owned_by: family,
    provider,
    capabilities,
  }))

/** The provider that options make of a family. */
export function familyProvider(family: Family, options: FamilyOptions): Provider {
  const { apiKey, baseURL = family.baseURL, id = family.id, transport = fetchTransport(), limits } = options
  return createProvider({
    id,
    baseURL: baseURL.replace(/\/+$/, ''),
    headers: { ...family.headers(apiKey), 'user-agent': 'turnpike' },
    chat: family.chat(id),
    endpoints: family.endpoints,
    models: listModels(family.id, id, family.catalogue),
    owns: family.owns,
    transport,
    limits,
  })
}

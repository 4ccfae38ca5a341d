import { readFileSync } from 'node:fs'
import type { PriceSource, Provider } from '@turnpike/core'
import { SPEECH_MODELS, TRANSCRIPTION_MODELS } from '@turnpike/gateway'
import type { Deployment, Transport } from '@turnpike/providers'
import {
  anthropic,
  builtInPrices,
  fetchTransport,
  google,
  googleEndpoints,
  limitsOf,
  openai,
} from '@turnpike/providers'
import { preset } from '@turnpike/providers/presets'
import type { ServiceAccountKey } from '@turnpike/providers/vertex'
import { ConfigError } from './config/faults.js'
import type { Config } from './config/schema.js'
import type { ProviderSettings } from './config/providers.js'
import { isMade } from './config/providers.js'

/** Allowed audio models if a provider of Gemini has audio: those of the specification and these. */
export const geminiAudio = {
  speechModels: [
    ...SPEECH_MODELS,
    'gemini-3.8-flash-tts',
    'gemini-3.8-flash-lite-tts',
    'gemini-2.5-flash-preview-tts',
    'gemini-2.5-pro-preview-tts',
  ],
  transcriptionModels: [...TRANSCRIPTION_MODELS, 'gemini-2.5-flash'],
}

/** The HTTP client that calls a vendor within this process. */
async function simulate(vendor: 'openai' | 'anthropic' | 'google'): Promise<Transport> {
  const { fakeOpenAI, fakeAnthropic, fakeGoogle } = await import('@turnpike/providers/testing')
  const vendors = { openai: fakeOpenAI, anthropic: fakeAnthropic, google: fakeGoogle }
  return vendors[vendor]({ remember: 0 }).transport
}

/** The option of families that do not fetch images themselves. */
const fetching = async (fetchImages: boolean | undefined) =>
  fetchImages ? { remoteContent: (await import('@turnpike/providers/remote-content')).remoteContent() } : {}

/**
 * The key of a service account, which is given as it is, as JSON, or by the path of its file.
 * @throws Error where it cannot be read, without what was given: it may be a key in another form
 */
function serviceAccountOf(given: string | ServiceAccountKey): ServiceAccountKey {
  if (typeof given !== 'string') return given
  try {
    return JSON.parse(/^\s*\{/.test(given) ? given : readFileSync(given, 'utf8')) as ServiceAccountKey
  } catch (error) {
    const { code = 'it is no JSON' } = error as { code?: string }
    throw new Error(`credentials: the key of the service account cannot be read: ${code}`, { cause: error })
  }
}

/**
 * Makes a provider. What only some configurations need is loaded here, and not by each start.
 * @param prices tell of newer models
 * @throws Error that names the setting which is wrong
 */
async function create(settings: ProviderSettings, ownTransport: Transport, prices: PriceSource): Promise<Provider> {
  const isSimulated = 'simulated' in settings && settings.simulated
  const connection = isSimulated
    ? { apiKey: 'simulated', transport: await simulate(settings.type) }
    : { transport: ownTransport }
  const maxOutput = (model: string): number | undefined =>
    limitsOf('anthropic', model, prices.table().models)?.maxOutput
  const { disabled: _, weight: __, requestsPerMinute: ___, tokensPerMinute: ____, ...given } = settings
  switch (given.type) {
    case 'openai': {
      const { type: _, simulated: __, ...options } = given
      return openai({ ...options, ...connection })
    }
    case 'anthropic': {
      const { type: _, simulated: __, ...options } = given
      return anthropic({ ...options, ...connection, maxOutput })
    }
    case 'google': {
      const { type: _, simulated: __, fetchImages, audio = false, ...options } = given
      return google({
        ...options,
        ...connection,
        ...(await fetching(fetchImages)),
        endpoints: googleEndpoints({ audio }),
      })
    }
    case 'azure': {
      const { type: _, ...options } = given
      const { azure } = await import('@turnpike/providers/azure')
      return azure({ ...options, ...connection })
    }
    case 'bedrock': {
      const { type: _, ...options } = given
      const { bedrock } = await import('@turnpike/providers/bedrock')
      return bedrock({ ...options, ...connection, maxOutput })
    }
    case 'vertex': {
      const { type: _, fetchImages, credentials, ...options } = given
      const account = credentials === undefined ? {} : { credentials: serviceAccountOf(credentials) }
      const { vertex } = await import('@turnpike/providers/vertex')
      return vertex({ ...options, ...connection, ...account, ...(await fetching(fetchImages)), maxOutput })
    }
    default: {
      const { type, ...options } = given
      return preset(type, { ...options, ...connection })
    }
  }
}

/** The providers of a configuration that are not disabled. @throws Error with a line for each that cannot be made */
export async function createProviders(
  entries: readonly (Provider | ProviderSettings)[],
  transport: Transport,
  prices: PriceSource,
): Promise<{ providers: (Provider | Deployment)[]; simulated: boolean; audio: boolean }> {
  const faults: string[] = []
  let simulated = true
  let audio = false
  const providers: (Provider | Deployment)[] = []
  for (const [i, entry] of entries.entries()) {
    if (isMade(entry)) {
      simulated = false
      providers.push(entry)
      continue
    }
    if (entry.disabled) continue
    simulated &&= 'simulated' in entry && entry.simulated
    audio ||= entry.type === 'google' && entry.audio === true
    try {
      const { weight, requestsPerMinute, tokensPerMinute } = entry
      providers.push({
        provider: await create(entry, transport, prices),
        ...(weight !== undefined && { weight }),
        ...(requestsPerMinute !== undefined && { requestsPerMinute }),
        ...(tokensPerMinute !== undefined && { tokensPerMinute }),
      })
    } catch (error) {
      faults.push(`providers[${i}]: ${(error as Error).message}`)
    }
  }
  if (faults.length > 0) throw new ConfigError(faults)
  if (providers.length === 0) throw new ConfigError(['providers must have one that is not disabled'])
  return { providers, simulated, audio }
}

/** Makes the providers of a configuration and calls none. @throws ConfigError with a line for each that cannot be made */
export async function checkProviders({ providers }: Config): Promise<void> {
  await createProviders(providers, fetchTransport(), builtInPrices())
}

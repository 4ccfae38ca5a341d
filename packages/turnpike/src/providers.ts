import { readFileSync } from 'node:fs'
import type { PriceSource, Provider } from '@turnpike/core'
import { SPEECH_MODELS, TRANSCRIPTION_MODELS } from '@turnpike/gateway'
import type { Deployment, Transport } from '@turnpike/providers'
import {
  anthropic,
  builtInPrices,
  createRouter,
  fetchTransport,
  google,
  googleEndpoints,
  limitsOf,
  openai,
} from '@turnpike/providers'
import { azure } from '@turnpike/providers/azure'
import { bedrock } from '@turnpike/providers/bedrock'
import { preset } from '@turnpike/providers/presets'
import { remoteContent } from '@turnpike/providers/remote-content'
import { fakeAnthropic, fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import type { ServiceAccountKey } from '@turnpike/providers/vertex'
import { vertex } from '@turnpike/providers/vertex'
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

const simulations = { openai: fakeOpenAI, anthropic: fakeAnthropic, google: fakeGoogle }

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

/** The settings that are not of the provider itself but of its deployment, or of neither. */
type Shared = 'disabled' | (typeof ofDeployment)[number]
const ofDeployment = [
  'weight',
  'requestsPerMinute',
  'tokensPerMinute',
  'aliases',
  'retries',
  'firstEventMs',
  'betweenEventsMs',
  'wholeAnswerMs',
] as const satisfies (keyof Deployment)[]

/** Omits from each member of a union. */
type Without<Settings, Names extends PropertyKey> = Settings extends unknown ? Omit<Settings, Names> : never

const optionsOf = (settings: ProviderSettings): Without<ProviderSettings, Shared> => {
  const given: Partial<ProviderSettings> = { ...settings }
  for (const name of ['disabled', ...ofDeployment] as const) delete given[name]
  return given as Without<ProviderSettings, Shared>
}

/** Makes a provider. @param prices tell of newer models. @throws Error that names the setting which is wrong */
function create(settings: ProviderSettings, ownTransport: Transport, prices: PriceSource): Provider {
  const isSimulated = 'simulated' in settings && settings.simulated
  const connection = isSimulated
    ? { apiKey: 'simulated', transport: simulations[settings.type]({ remember: 0 }).transport }
    : { transport: ownTransport }
  const maxOutput = (model: string): number | undefined =>
    limitsOf('anthropic', model, prices.table().models)?.maxOutput
  const given = optionsOf(settings)
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
      const fetched = fetchImages ? { remoteContent: remoteContent() } : {}
      return google({ ...options, ...connection, ...fetched, endpoints: googleEndpoints({ audio }) })
    }
    case 'azure': {
      const { type: _, ...options } = given
      return azure({ ...options, ...connection })
    }
    case 'bedrock': {
      const { type: _, ...options } = given
      return bedrock({ ...options, ...connection, maxOutput })
    }
    case 'vertex': {
      const { type: _, fetchImages, credentials, ...options } = given
      const account = credentials === undefined ? {} : { credentials: serviceAccountOf(credentials) }
      const fetched = fetchImages ? { remoteContent: remoteContent() } : {}
      return vertex({ ...options, ...connection, ...account, ...fetched, maxOutput })
    }
    default: {
      const { type, ...options } = given
      return preset(type, { ...options, ...connection })
    }
  }
}

/** The providers of a configuration that are not disabled. @throws Error with a line for each that cannot be made */
export function createProviders(
  entries: readonly (Provider | ProviderSettings)[],
  transport: Transport,
  prices: PriceSource,
): { providers: (Provider | Deployment)[]; simulated: boolean; audio: boolean } {
  const faults: string[] = []
  let simulated = true
  let audio = false
  const providers = entries.flatMap((entry, i) => {
    if (isMade(entry)) {
      simulated = false
      return entry
    }
    if (entry.disabled) return []
    simulated &&= 'simulated' in entry && entry.simulated
    audio ||= entry.type === 'google' && entry.audio === true
    try {
      const own = Object.fromEntries(ofDeployment.flatMap((name) => (name in entry ? [[name, entry[name]]] : [])))
      return { provider: create(entry, transport, prices), ...own }
    } catch (error) {
      faults.push(`providers[${i}]: ${(error as Error).message}`)
      return []
    }
  })
  if (faults.length > 0) throw new ConfigError(faults)
  if (providers.length === 0) throw new ConfigError(['providers must have one that is not disabled'])
  return { providers, simulated, audio }
}

/** Makes the providers of a configuration and their router, and calls none. @throws ConfigError with a line for each that cannot be made */
export function checkProviders({ providers: entries, routing }: Config): void {
  const { providers } = createProviders(entries, fetchTransport(), builtInPrices())
  try {
    createRouter({ providers, ...routing })
  } catch (error) {
    throw new ConfigError([(error as Error).message.replace(/^createRouter: /, '')])
  }
}

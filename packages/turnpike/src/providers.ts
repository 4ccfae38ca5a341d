import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
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
type Given = Without<ProviderSettings, Shared>

/** The settings by which a provider is made. */
const givenOf = (settings: ProviderSettings): Given => {
  const given: Partial<ProviderSettings> = { ...settings }
  for (const name of ['disabled', ...ofDeployment] as const) delete given[name]
  return given as Given
}
/** The settings of its deployment. */
const deploymentOf = (settings: ProviderSettings): Omit<Deployment, 'provider'> =>
  Object.fromEntries(ofDeployment.flatMap((name) => (name in settings ? [[name, settings[name]]] : [])))

/** Makes a provider. @param prices tell of newer models. @throws Error that names the setting which is wrong */
function create(given: Given, ownTransport: Transport, prices: PriceSource): Provider {
  const isSimulated = 'simulated' in given && given.simulated
  const connection = isSimulated
    ? { apiKey: 'simulated', transport: simulations[given.type]({ remember: 0 }).transport }
    : { transport: ownTransport }
  const maxOutput = (model: string): number | undefined =>
    limitsOf('anthropic', model, prices.table().models)?.maxOutput
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

/** A provider that was made by settings. */
interface Made {
  given: Given
  transport: Transport
  provider: Provider
}

/** Makes the providers of a configuration, whose settings say how. */
export interface ProviderMaker {
  /** What the router is given; undefined for one that is disabled. @throws Error that names the setting which is wrong */
  make(entry: Provider | ProviderSettings): Provider | Deployment | undefined
  /** What was made so far. */
  made: Made[]
}

/** @param before what was made for an earlier configuration: of that, a provider with the same settings is taken, once */
export function providerMaker(transport: Transport, prices: PriceSource, before: readonly Made[] = []): ProviderMaker {
  const left = [...before]
  const made: Made[] = []
  return {
    made,
    make(entry) {
      if (isMade(entry)) return entry
      if (entry.disabled) return undefined
      const given = givenOf(entry)
      const same = left.findIndex((one) => one.transport === transport && isDeepStrictEqual(one.given, given))
      const [one = { given, transport, provider: create(given, transport, prices) }] =
        same < 0 ? [] : left.splice(same, 1)
      made.push(one)
      return { provider: one.provider, ...deploymentOf(entry) }
    },
  }
}

/** The providers of a configuration, undefined for those that are disabled. @throws ConfigError with a line for each that cannot be made */
export function createProviders(
  entries: readonly (Provider | ProviderSettings)[],
  { make }: ProviderMaker,
): ReturnType<ProviderMaker['make']>[] {
  const faults: string[] = []
  const providers = entries.map((entry, i) => {
    try {
      return make(entry)
    } catch (error) {
      faults.push(`providers[${i}]: ${(error as Error).message}`)
      return undefined
    }
  })
  if (faults.length > 0) throw new ConfigError(faults)
  return providers
}

/** Whether an upstream in this process answers. */
export const isSimulated = (entry: Provider | ProviderSettings): boolean =>
  !isMade(entry) && 'simulated' in entry && entry.simulated
/** Whether it is Gemini with speech and transcription. */
export const hasAudio = (entry: Provider | ProviderSettings): boolean =>
  !isMade(entry) && entry.type === 'google' && entry.audio === true
/** @throws ConfigError where a configuration has no provider that is not disabled */
export function needProvider(providers: readonly unknown[]): void {
  if (providers.every((provider) => provider === undefined))
    throw new ConfigError(['providers must have one that is not disabled'])
}

/** Makes the providers of a configuration and their router, and calls none. @throws ConfigError with a line for each that cannot be made */
export function checkProviders({ providers: entries, routing }: Config): void {
  const made = createProviders(entries, providerMaker(fetchTransport(), builtInPrices()))
  needProvider(made)
  try {
    createRouter({ providers: made.filter((provider) => provider !== undefined), ...routing })
  } catch (error) {
    throw new ConfigError([(error as Error).message.replace(/^createRouter: /, '')])
  }
}

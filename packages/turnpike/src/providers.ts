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
import { preset } from '@turnpike/providers/presets'
import type { ServiceAccountKey } from '@turnpike/providers/vertex'
import { fileOf } from './config/check.js'
import { ConfigError } from './config/faults.js'
import type { Config } from './config/schema.js'
import type { ProviderSettings } from './config/providers.js'
import { isMade } from './config/providers.js'
import { isPriceFile, openPrices } from './prices.js'

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
    const why = code === 'ENOENT' ? 'there is no such file' : code
    throw new Error(`vertex: the option "credentials" cannot be read as the key of a service account: ${why}`, {
      cause: error,
    })
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

/**
 * Makes a provider. What only some configurations need is loaded here, and not by each start.
 * @param prices tell of newer models
 * @throws Error that names the setting which is wrong
 */
async function create(given: Given, ownTransport: Transport, prices: PriceSource): Promise<Provider> {
  const isSimulated = 'simulated' in given && given.simulated
  const connection = isSimulated
    ? { apiKey: 'simulated', transport: await simulate(given.type) }
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

/** A provider that was made by settings. */
interface Made {
  given: Given
  transport: Transport
  provider: Provider
}

/** Makes the providers of a configuration, whose settings say how. */
export interface ProviderMaker {
  /** What the router is given; undefined for one that is disabled. @throws Error that names the setting which is wrong */
  make(entry: Provider | ProviderSettings): Promise<Provider | Deployment | undefined>
  /** What was made so far. */
  made: Made[]
}

/** @param before what was made for an earlier configuration: of that, a provider with the same settings is taken, once */
export function providerMaker(transport: Transport, prices: PriceSource, before: readonly Made[] = []): ProviderMaker {
  const left = [...before]
  const made: Made[] = []
  return {
    made,
    async make(entry) {
      if (isMade(entry)) return entry
      if (entry.disabled) return undefined
      const given = givenOf(entry)
      const same = left.findIndex((one) => one.transport === transport && isDeepStrictEqual(one.given, given))
      const [kept] = same < 0 ? [] : left.splice(same, 1)
      const one = kept ?? { given, transport, provider: await create(given, transport, prices) }
      made.push(one)
      return { provider: one.provider, ...deploymentOf(entry) }
    },
  }
}

/** What is wrong with a setting, by its path, where the error of a program names it as an option of what is made. */
const faultOf = (path: string, message: string): string =>
  message
    .replace(/^[\w.-]+: /, `${path}: `)
    .replace(/^(\S+): the option "([\w.]+)": "([^"]+)"/, '$1.$2.$3')
    .replace(/^(\S+): the option "([\w.]+)"/, '$1.$2')

/** The providers of a configuration of a file, undefined for those that are disabled. @throws ConfigError with a line for each that cannot be made */
export async function createProviders(
  entries: readonly (Provider | ProviderSettings)[],
  { make }: ProviderMaker,
  file: string | undefined,
): Promise<(Provider | Deployment | undefined)[]> {
  const faults: string[] = []
  const providers: (Provider | Deployment | undefined)[] = []
  for (const [i, entry] of entries.entries()) {
    try {
      providers.push(await make(entry))
    } catch (error) {
      faults.push(faultOf(`providers[${i}]`, (error as Error).message))
    }
  }
  if (faults.length > 0) throw new ConfigError(faults, file)
  return providers
}

/** Whether an upstream in this process answers. */
export const isSimulated = (entry: Provider | ProviderSettings): boolean =>
  !isMade(entry) && 'simulated' in entry && entry.simulated
/** Whether it is Gemini with speech and transcription. */
export const hasAudio = (entry: Provider | ProviderSettings): boolean =>
  !isMade(entry) && entry.type === 'google' && entry.audio === true
/** @throws ConfigError where a configuration of a file has no provider that is not disabled */
export function needProvider(providers: readonly unknown[], file: string | undefined): void {
  if (providers.every((provider) => provider === undefined))
    throw new ConfigError(['providers must have one that is not disabled'], file)
}

/**
 * Makes the providers of a configuration and their router, calls none, and reads a table of prices.
 * @throws ConfigError with a line for each fault
 * @example await checkProviders(await loadConfig(process.env))
 */
export async function checkProviders(config: Config): Promise<void> {
  const { providers: entries, routing, prices } = config
  const file = fileOf(config)
  const made = await createProviders(entries, providerMaker(fetchTransport(), builtInPrices()), file)
  needProvider(made, file)
  try {
    createRouter({ providers: made.filter((provider) => provider !== undefined), ...routing })
  } catch (error) {
    throw new ConfigError([(error as Error).message.replace(/^createRouter: /, '')], file)
  }
  if (isPriceFile(prices)) await openPrices(prices, () => undefined)
}

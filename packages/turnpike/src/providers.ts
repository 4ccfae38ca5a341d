import type { PriceSource, Provider } from '@turnpike/core'
import { SPEECH_MODELS, TRANSCRIPTION_MODELS } from '@turnpike/gateway'
import type { Transport } from '@turnpike/providers'
import {
  anthropic,
  builtInPrices,
  fetchTransport,
  google,
  googleEndpoints,
  limitsOf,
  openai,
} from '@turnpike/providers'
import { remoteContent } from '@turnpike/providers/remote-content'
import { fakeAnthropic, fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
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

/** The options of an adapter: settings without those that decide whether and where it is used. */
function optionsOf<S extends ProviderSettings>(settings: S) {
  const { type: _, simulated: __, disabled: ___, ...options } = settings
  return options
}

/** Makes a provider. @param prices tell of newer models. @throws TypeError that names the setting which is wrong */
function create(settings: ProviderSettings, transport: Transport, prices: PriceSource): Provider {
  const connection = settings.simulated
    ? { apiKey: 'simulated', transport: simulations[settings.type]({ remember: 0 }).transport }
    : { transport }
  switch (settings.type) {
    case 'openai':
      return openai({ ...optionsOf(settings), ...connection })
    case 'anthropic': {
      const maxOutput = (model: string) => limitsOf('anthropic', model, prices.table().models)?.maxOutput
      return anthropic({ ...optionsOf(settings), ...connection, maxOutput })
    }
    case 'google': {
      const { fetchImages, audio = false, ...options } = optionsOf(settings)
      const fetched = fetchImages ? { remoteContent: remoteContent() } : {}
      return google({ ...options, ...connection, ...fetched, endpoints: googleEndpoints({ audio }) })
    }
  }
}

/** The providers of a configuration that are not disabled. @throws Error with a line for each that cannot be made */
export function createProviders(
  entries: readonly (Provider | ProviderSettings)[],
  transport: Transport,
  prices: PriceSource,
): { providers: Provider[]; simulated: boolean; audio: boolean } {
  const faults: string[] = []
  let simulated = true
  let audio = false
  const providers = entries.flatMap((entry, i) => {
    if (isMade(entry)) {
      simulated = false
      return entry
    }
    if (entry.disabled) return []
    simulated &&= entry.simulated
    audio ||= entry.type === 'google' && entry.audio === true
    try {
      return create(entry, transport, prices)
    } catch (error) {
      faults.push(`providers[${i}]: ${(error as Error).message}`)
      return []
    }
  })
  if (faults.length > 0) throw new ConfigError(faults)
  if (providers.length === 0) throw new ConfigError(['providers must have one that is not disabled'])
  return { providers, simulated, audio }
}

/** Makes the providers of a configuration and calls none. @throws ConfigError with a line for each that cannot be made */
export const checkProviders = ({ providers }: Config): void =>
  void createProviders(providers, fetchTransport(), builtInPrices())

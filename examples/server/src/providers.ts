import type { PriceSource, Provider } from '@turnpike/core'
import { SPEECH_MODELS, TRANSCRIPTION_MODELS } from '@turnpike/gateway'
import type { OpenAIOptions, Transport } from '@turnpike/providers'
import { anthropic, google, googleEndpoints, limitsOf, openai } from '@turnpike/providers'
import { remoteContent } from '@turnpike/providers/remote-content'
import { fakeAnthropic, fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import type { Environment } from './environment.js'

/** The provider families: prefix of the settings, and the simulated upstream for servers without a configured provider. */
const families = [
  { name: 'OPENAI', simulated: fakeOpenAI },
  { name: 'ANTHROPIC', simulated: fakeAnthropic },
  { name: 'GEMINI', simulated: fakeGoogle },
] as const

/** What all families take. */
type Options = Pick<OpenAIOptions, 'apiKey' | 'baseURL' | 'models' | 'transport'>

/** Allowed audio models if `GEMINI_AUDIO` is set: those of the specification and these of Gemini. */
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

/** Creates the providers that have an API key or a base URL; without any, simulations of all families. @param prices tell of newer models */
export function createProviders(
  environment: Environment,
  transport: Transport,
  prices: PriceSource,
): { providers: Provider[]; simulated: boolean } {
  const { FETCH_IMAGES, GEMINI_AUDIO: audio, OPENAI_THINK_TAGS: thinkTags } = environment
  const make: Record<(typeof families)[number]['name'], (options: Options) => Provider> = {
    OPENAI: (options) => openai({ ...options, thinkTags }),
    ANTHROPIC: (options) =>
      anthropic({
        ...options,
        maxOutput: (model) => limitsOf('anthropic', model, prices.table().models)?.maxOutput,
      }),
    GEMINI: (options) =>
      google({
        ...options,
        endpoints: googleEndpoints({ audio }),
        ...(FETCH_IMAGES && { remoteContent: remoteContent() }),
      }),
  }
  const providers: Provider[] = []
  for (const { name } of families) {
    const apiKey = environment[`${name}_API_KEY`]
    const baseURL = environment[`${name}_BASE_URL`]
    const models = environment[`${name}_MODELS`]
    if (apiKey !== undefined || baseURL !== undefined)
      providers.push(
        make[name]({
          transport,
          ...(apiKey && { apiKey }),
          ...(baseURL && { baseURL }),
          ...(models && { models }),
        }),
      )
  }
  return providers.length > 0
    ? { providers, simulated: false }
    : {
        providers: families.map(({ name, simulated }) =>
          make[name]({ apiKey: 'simulated', transport: simulated({ remember: 0 }).transport }),
        ),
        simulated: true,
      }
}

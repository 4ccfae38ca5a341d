import type { Price, PriceRow, PriceSource, Rates } from '@turnpike/core'
import { fixedPrices, priceTable } from '@turnpike/core'
import { undated } from '@turnpike/core/internal'
import { CATALOGUE_DATE } from './family.js'

/** The limits and the price of a model. */
export interface ModelFacts {
  /** Maximum tokens of prompt and answer together; undefined if the model does not count tokens. */
  context: number | undefined
  /** Maximum tokens of an answer; undefined if unknown or not applicable. */
  maxOutput: number | undefined
  /** In US dollars per million units. */
  price: PriceRow
}

const model = (
  context: number | undefined,
  maxOutput: number | undefined,
  rates: PriceRow,
  tier?: Rates & { above: number },
): ModelFacts => ({ context, maxOutput, price: tier ? { ...rates, tiers: [tier] } : rates })

const text = (input: number, output: number, cache_read: number): Rates => ({ input, output, cache_read })

/** Adds the rate of audio input. */
const audio = (input_audio: number, rates: Rates): Rates => ({ ...rates, input_audio })

/** A product without the error of binary fractions. */
const times = (rate: number, factor: number): number => Number((rate * factor).toFixed(6))

const scaled = ({ tiers, ...rates }: Price, factor: number): Price => {
  const price: Price = Object.fromEntries(Object.entries(rates).map(([name, rate]) => [name, times(rate, factor)]))
  if (tiers) price.tiers = tiers.map(({ above, ...tier }) => ({ ...scaled(tier, factor), above }))
  return price
}

/** Adds the flex tier, which costs half of all rates. */
const flex = ({ price, ...facts }: ModelFacts): ModelFacts => ({
  ...facts,
  price: { ...price, service_tiers: { ...price.service_tiers, flex: scaled(price, 0.5) } },
})

/** Adds the priority tier. It does not serve the long prompts that have rates of their own. */
const priority = (rates: Rates, { price, ...facts }: ModelFacts): ModelFacts => ({
  ...facts,
  price: { ...price, service_tiers: { ...price.service_tiers, priority: rates } },
})

/** The rates of Claude models: each is a multiple of the input rate. */
const claude = (input: number, read = 0.1): Rates => ({
  ...text(input, times(input, 5), times(input, read)),
  cache_write: times(input, 1.25),
  cache_write_1h: times(input, 2),
})

/** Claude models from 4.6 on can be bound to the US (`inference_geo`), which adds a tenth to all rates. */
const regional = (price: Price): PriceRow => ({ ...price, service_tiers: { us: scaled(price, 1.1) } })

/** The context size of nearly all Gemini models: 1,048,576 tokens. */
const MI = 2 ** 20

/** Text and thoughts of Gemini's image models have a rate of their own: Google's price list and litellm's table, November 2026. */
const flashImage = model(65_536, 65_536, { input: 0.5, output: 3, output_image: 60 })
const proImage = model(131_072, 32_768, { input: 2, output: 12, output_image: 120 })

/**
 * The known models by `provider/model`. Source: models.dev at f3fc69229, 2026-07-02; `tts-…` and `whisper-1`: litellm's table of
 * the same day; `gemini-2.5-flash-image`: text at the rate of OpenRouter's listing; `gpt-4o-2024-05-13`: OpenAI's own price list.
 * Priority (also called fast): openai.com/api-priority-processing; flex: OpenAI's price list, where it has the rates of batches;
 * `inference_geo`: Claude's pages on data residency; Claude after Opus 4.8, and Opus 4.7: the models' pages of Claude's docs; all read in November 2026.
 */
export const catalogue: Record<string, ModelFacts> = {
  'openai/gpt-4o': priority(text(4.25, 17, 2.125), model(128_000, 16_384, text(2.5, 10, 1.25))),
  'openai/gpt-4o-2024-05-13': priority({ input: 8.75, output: 26.25 }, model(128_000, 4_096, { input: 5, output: 15 })),
  'openai/gpt-4o-mini': priority(text(0.25, 1, 0.125), model(128_000, 16_384, text(0.15, 0.6, 0.075))),
  'openai/gpt-4.1': priority(text(3.5, 14, 0.875), model(1_047_576, 32_768, text(2, 8, 0.5))),
  'openai/gpt-4.1-mini': priority(text(0.7, 2.8, 0.175), model(1_047_576, 32_768, text(0.4, 1.6, 0.1))),
  'openai/gpt-4.1-nano': priority(text(0.2, 0.8, 0.05), model(1_047_576, 32_768, text(0.1, 0.4, 0.025))),
  'openai/gpt-5': priority(text(2.5, 20, 0.25), flex(model(400_000, 128_000, text(1.25, 10, 0.125)))),
  'openai/gpt-5-mini': priority(text(0.45, 3.6, 0.045), flex(model(400_000, 128_000, text(0.25, 2, 0.025)))),
  'openai/gpt-5-nano': flex(model(400_000, 128_000, text(0.05, 0.4, 0.005))),
  'openai/gpt-5.1': priority(text(2.5, 20, 0.25), flex(model(400_000, 128_000, text(1.25, 10, 0.125)))),
  'openai/gpt-5.2': priority(text(3.5, 28, 0.35), flex(model(400_000, 128_000, text(1.75, 14, 0.175)))),
  'openai/gpt-5.4': priority(
    text(5, 30, 0.5),
    flex(model(1_050_000, 128_000, text(2.5, 15, 0.25), { above: 272_000, ...text(5, 22.5, 0.5) })),
  ),
  'openai/gpt-5.4-mini': priority(text(1.5, 9, 0.15), flex(model(400_000, 128_000, text(0.75, 4.5, 0.075)))),
  'openai/gpt-5.5': priority(
    text(12.5, 75, 1.25),
    flex(model(1_050_000, 128_000, text(5, 30, 0.5), { above: 272_000, ...text(10, 45, 1) })),
  ),
  'openai/o3': priority(text(3.5, 14, 0.875), flex(model(200_000, 100_000, text(2, 8, 0.5)))),
  'openai/o4-mini': priority(text(2, 8, 0.5), flex(model(200_000, 100_000, text(1.1, 4.4, 0.275)))),
  'openai/text-embedding-3-small': model(8_191, undefined, { input: 0.02, output: 0 }),
  'openai/text-embedding-3-large': model(8_191, undefined, { input: 0.13, output: 0 }),
  'openai/text-embedding-ada-002': model(8_191, undefined, { input: 0.1, output: 0 }),
  'openai/gpt-image-2': model(undefined, undefined, { ...text(5, 30, 1.25), output_image: 30 }),
  'openai/tts-1': model(undefined, undefined, { characters: 15 }),
  'openai/tts-1-hd': model(undefined, undefined, { characters: 30 }),
  'openai/whisper-1': model(undefined, undefined, { seconds: 100 }),

  'anthropic/claude-haiku-4-5': model(200_000, 64_000, claude(1)),
  'anthropic/claude-haiku-5-5': model(
    1_000_000,
    128_000,
    regional({ ...claude(0.1), tiers: [{ above: 100_000, ...claude(0.5) }] }),
  ),
  'anthropic/claude-sonnet-4-5': model(200_000, 64_000, claude(3)),
  'anthropic/claude-sonnet-4-6': model(1_000_000, 64_000, regional(claude(3))),
  'anthropic/claude-sonnet-5': model(1_000_000, 128_000, regional(claude(2))),
  'anthropic/claude-sonnet-5-5': model(1_000_000, 128_000, regional(claude(2, 0.05))),
  'anthropic/claude-opus-4-5': model(200_000, 64_000, claude(5)),
  'anthropic/claude-opus-4-6': model(1_000_000, 128_000, regional(claude(5))),
  'anthropic/claude-opus-4-7': model(1_000_000, 128_000, regional(claude(5))),
  'anthropic/claude-opus-4-8': model(1_000_000, 128_000, regional(claude(5))),
  'anthropic/claude-opus-5': model(1_000_000, 128_000, regional(claude(5))),
  'anthropic/claude-opus-5-5': model(1_000_000, 128_000, regional(claude(4, 0.05))),
  'anthropic/claude-fable-5': model(1_000_000, 128_000, regional(claude(10))),
  'anthropic/claude-fable-5-1': model(1_000_000, 128_000, regional(claude(10, 0.025))),
  'anthropic/claude-fable-5-2': model(1_000_000, 128_000, regional(claude(8, 0.025))),

  'google/gemini-2.5-flash-lite': model(MI, 65_536, audio(0.3, text(0.1, 0.4, 0.01))),
  'google/gemini-2.5-flash': model(MI, 65_536, audio(1, text(0.3, 2.5, 0.03))),
  'google/gemini-2.5-pro': model(MI, 65_536, audio(1.25, text(1.25, 10, 0.125)), {
    above: 200_000,
    ...audio(2.5, text(2.5, 15, 0.25)),
  }),
  'google/gemini-3-flash-preview': model(MI, 65_536, audio(1, text(0.5, 3, 0.05))),
  'google/gemini-3.1-flash-lite': model(MI, 65_536, audio(0.5, text(0.25, 1.5, 0.025))),
  'google/gemini-3.1-pro-preview': model(MI, 65_536, audio(2, text(2, 12, 0.2)), {
    above: 200_000,
    ...audio(4, text(4, 18, 0.4)),
  }),
  'google/gemini-3.5-flash': model(MI, 65_536, audio(1.5, text(1.5, 9, 0.15))),
  'google/gemini-embedding-001': model(2_048, undefined, { input: 0.15, output: 0 }),
  'google/gemini-embedding-2': model(8_192, undefined, { input: 0.2, output: 0 }),
  'google/gemini-2.5-flash-image': model(32_768, 32_768, { ...text(0.3, 2.5, 0.075), output_image: 30 }),
  'google/gemini-3.1-flash-image': flashImage,
  'google/gemini-3.1-flash-image-preview': flashImage,
  'google/gemini-3-pro-image': proImage,
  'google/gemini-3-pro-image-preview': proImage,
  'google/gemini-2.5-flash-preview-tts': model(8_192, 16_384, { input: 0.5, output: 10, output_audio: 10 }),
  'google/gemini-2.5-pro-preview-tts': model(8_192, 16_384, { input: 1, output: 20, output_audio: 20 }),
  'google/gemini-3.1-flash-tts-preview': model(8_192, 16_384, { input: 1, output: 20, output_audio: 20 }),
}

/** The facts of a model. A dated version without an entry has those of its base id. */
export const factsOf = (provider: string, model: string): ModelFacts | undefined =>
  catalogue[`${provider}/${model}`] ?? catalogue[`${provider}/${undated(model)}`]

/** The prices of the {@link catalogue}. */
export const builtInPrices = (): PriceSource =>
  fixedPrices(
    priceTable(Object.fromEntries(Object.entries(catalogue).map(([id, { price }]) => [id, price])), {
      source: 'built-in',
      since: CATALOGUE_DATE,
    }),
  )

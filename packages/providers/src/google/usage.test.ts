import type { Usage } from '@turnpike/core'
import { cost, ratesFor, unitsOf } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { run } from '../../../../test/support/google.js'
import { scriptedUpstream } from '../../../../test/support/upstream.js'
import { builtInPrices } from '../models/catalogue.js'
import { google, googleChat, googleEndpoints } from './index.js'

const picture = { inlineData: { mimeType: 'image/png', data: 'AAAA' } }
const answerOf = (parts: object[], usageMetadata: object) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
  usageMetadata,
})

/** The usage of an answer that comes whole, and of one that is streamed. */
async function bothWays(parts: object[], usageMetadata: object): Promise<(Usage | undefined)[]> {
  const body = answerOf(parts, usageMetadata)
  const { usage } = googleChat('google').response(body, { model: 'm', messages: [] })
  const { batches } = await run(...parts.map((part) => answerOf([part], usageMetadata)))
  const streamed = batches.flat().at(-1) as { usage?: Usage }
  return [usage, streamed.usage]
}

async function drawn(parts: object[], usageMetadata: object): Promise<Usage | undefined> {
  const at = scriptedUpstream({ body: answerOf(parts, usageMetadata) })
  const provider = google({ apiKey: 'k', transport: at.transport, endpoints: googleEndpoints() })
  const { usage } = await provider.images!({ model: 'gemini-3-pro-image', prompt: 'A cat' }, at.call)
  return usage
}

const table = builtInPrices().table()
const dollars = (model: string, usage: Usage): number => {
  const units = unitsOf(usage)
  return cost(units, ratesFor(table.price('google', model)!, units))! / 1e9
}

describe('an answer with an image', () => {
  // Google's price list: text and thoughts of 3 Pro Image at $12 and its images at $120 a million; $3 and $60 of 3.1 Flash Image.
  const usageMetadata = {
    promptTokenCount: 1000,
    candidatesTokenCount: 1220,
    thoughtsTokenCount: 300,
    totalTokenCount: 2520,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1120 }],
  }
  const parts = [{ text: 'Hm', thought: true }, { text: 'Here it is.' }, picture]

  it.each([
    ['gemini-3-pro-image', 1000 * 2 + 400 * 12 + 1120 * 120],
    ['gemini-3-pro-image-preview', 1000 * 2 + 400 * 12 + 1120 * 120],
    ['gemini-3.1-flash-image', 1000 * 0.5 + 400 * 3 + 1120 * 60],
    ['gemini-3.1-flash-image-preview', 1000 * 0.5 + 400 * 3 + 1120 * 60],
  ])('of %s has the rate of text for its text and thoughts', async (model, micro) => {
    for (const usage of [...(await bothWays(parts, usageMetadata)), await drawn(parts, usageMetadata)])
      expect(dollars(model, usage!)).toBeCloseTo(micro / 1e6, 9)
  })

  it('of /images has the rate of images for everything but thoughts where Gemini does not count them apart', async () => {
    const { candidatesTokensDetails: _, ...untold } = usageMetadata
    expect(unitsOf((await drawn(parts, untold))!)).toEqual({ input: 1000, reasoning: 300, output_image: 1220 })
  })

  it('has only the rate of text without an image', async () => {
    const { candidatesTokensDetails: _, ...untold } = usageMetadata
    for (const usage of await bothWays([{ text: 'I cannot draw that.' }], untold))
      expect(unitsOf(usage!)).toEqual({ input: 1000, reasoning: 300, output: 1220 })
  })
})

describe("Gemini's usage", () => {
  const counts = { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 }

  it('counts what built-in tools gave the model to read as prompt', async () => {
    for (const usage of await bothWays([{ text: 'a' }], {
      ...counts,
      toolUsePromptTokenCount: 40,
      totalTokenCount: 150,
    }))
      expect(usage).toMatchObject({ prompt_tokens: 140, completion_tokens: 10, total_tokens: 150 })
  })

  it.each<[string, object[]]>([
    [
      'a prompt that is 0 at the end',
      [
        { promptTokenCount: 100, cachedContentTokenCount: 60, totalTokenCount: 100 },
        { promptTokenCount: 0, candidatesTokenCount: 10, totalTokenCount: 10 },
      ],
    ],
    // As pydantic-ai's gateway in front of Vertex AI.
    [
      'an end without what was cached',
      [
        { ...counts, cachedContentTokenCount: 60 },
        { ...counts, trafficType: 'ON_DEMAND' },
      ],
    ],
    ['what was cached alone at first', [{ cachedContentTokenCount: 60 }, { ...counts, cachedContentTokenCount: 60 }]],
    ['nothing at the end', [{ ...counts, cachedContentTokenCount: 60 }, {}]],
  ])('never falls within a stream: %s (A3)', async (_, reports) => {
    const { batches } = await run(...reports.map((report) => answerOf([{ text: 'a' }], report)))
    const { usage } = batches.flat().at(-1) as { usage?: Usage }
    expect(unitsOf(usage!)).toEqual({ cache_read: 60, input: 40, output: 10 })
  })

  it('has cached tokens of each modality once', async () => {
    const metadata = {
      ...counts,
      cachedContentTokenCount: 60,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 50 },
        { modality: 'AUDIO', tokenCount: 50 },
      ],
      cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 30 }],
    }
    for (const usage of await bothWays([{ text: 'a' }], metadata))
      expect(unitsOf(usage!)).toEqual({ cache_read: 60, input_audio: 20, input: 20, output: 10 })
  })

  it.each([
    [{ serviceTier: 'standard' }, 'standard'],
    [{ serviceTier: 'flex' }, 'flex'],
    [{ serviceTier: 'PRIORITY' }, 'priority'],
    [{ trafficType: 'ON_DEMAND' }, undefined],
    [{ trafficType: 'ON_DEMAND_FLEX' }, 'flex'],
    [{ trafficType: 'ON_DEMAND_PRIORITY' }, 'priority'],
    [{ trafficType: 'PROVISIONED_THROUGHPUT' }, undefined],
    [{ serviceTier: 7 }, undefined],
  ])('names the service tier of %j', async (told, tier) => {
    for (const usage of await bothWays([{ text: 'a' }], { ...counts, ...told }))
      expect(usage!['service_tier']).toBe(tier)
  })
})

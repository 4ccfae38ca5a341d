import { describe, expect, it } from 'vitest'
import { toUsage } from './answer.js'

describe('toUsage', () => {
  it.each([
    [
      'thoughts beside candidates',
      {
        promptTokenCount: 30,
        cachedContentTokenCount: 8,
        thoughtsTokenCount: 4,
        candidatesTokenCount: 6,
        totalTokenCount: 40,
      },
      { prompt_tokens: 30, completion_tokens: 10, total_tokens: 40, prompt_tokens_details: { cached_tokens: 8 } },
    ],
    [
      'thoughts among candidates',
      { promptTokenCount: 30, thoughtsTokenCount: 4, candidatesTokenCount: 10, totalTokenCount: 40 },
      {
        prompt_tokens: 30,
        completion_tokens: 10,
        total_tokens: 40,
        completion_tokens_details: { reasoning_tokens: 4 },
      },
    ],
    [
      'tools of the upstream',
      { promptTokenCount: 30, toolUsePromptTokenCount: 5, candidatesTokenCount: 10, totalTokenCount: 45 },
      { prompt_tokens: 35, completion_tokens: 10, total_tokens: 45 },
    ],
    [
      'a total that does not add up',
      { promptTokenCount: 30, candidatesTokenCount: 10, totalTokenCount: 99 },
      { prompt_tokens: 30, completion_tokens: 10, total_tokens: 40 },
    ],
    [
      'audio',
      {
        promptTokenCount: 30,
        candidatesTokenCount: 10,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 5 },
          { modality: 'AUDIO', tokenCount: 25 },
        ],
      },
      { total_tokens: 40, prompt_tokens_details: { cached_tokens: 0, audio_tokens: 25 } },
    ],
    [
      'images and audio',
      {
        promptTokenCount: 600,
        candidatesTokenCount: 1_400,
        thoughtsTokenCount: 50,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 5 },
          { modality: 'IMAGE', tokenCount: 595 },
        ],
        candidatesTokensDetails: [
          { modality: 'IMAGE', tokenCount: 1_290 },
          { modality: 'AUDIO', tokenCount: 110 },
        ],
      },
      {
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0, image_tokens: 595 },
        completion_tokens_details: { reasoning_tokens: 50, audio_tokens: 110, image_tokens: 1_290 },
      },
    ],
  ])('counts %s', (_, metadata, usage) => {
    expect(toUsage(metadata)).toMatchObject(usage)
  })

  it('omits image and audio details where there are none', () => {
    const modalities = ['TEXT', 'IMAGE', 'AUDIO'].map((modality) => ({ modality, tokenCount: 0 }))
    const counts = { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 }
    const usage = toUsage({ ...counts, promptTokensDetails: modalities, candidatesTokensDetails: modalities })
    expect(JSON.parse(JSON.stringify(usage))).toStrictEqual({
      prompt_tokens: 3,
      completion_tokens: 4,
      total_tokens: 7,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    })
  })

  it('is undefined where none is reported', () => {
    expect(toUsage(undefined)).toBeUndefined()
    expect(toUsage({ promptTokenCount: 'x', totalTokenCount: 1 })).toBeUndefined()
  })
})

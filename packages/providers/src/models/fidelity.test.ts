import type { Provider } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { ChatAdapter } from '../adapter.js'
import { anthropicChat } from '../anthropic/index.js'
import { anthropicCatalogue } from '../anthropic/models.js'
import { fidelityOf } from './fidelity.js'
import { googleChat, googleEndpoints } from '../google/index.js'
import { googleCatalogue } from '../google/models.js'
import { openaiChat } from '../openai/chat.js'
import { openaiCatalogue } from '../openai/models.js'
import { anthropicRefusal } from '../testing/anthropic-rules.js'
import { googleRefusal } from '../testing/google-rules.js'
import { openaiRefusal } from '../testing/openai-rules.js'

const families: [ChatAdapter, string[], (model: string, body: unknown) => unknown][] = [
  // It refuses what has no audio in it.
  [
    openaiChat('openai'),
    Object.keys(openaiCatalogue).filter((id) => id !== 'gpt-audio-1.5'),
    (_, body) => openaiRefusal(body),
  ],
  [anthropicChat('anthropic'), Object.keys(anthropicCatalogue), (_, body) => anthropicRefusal(body)],
  [googleChat('google'), Object.keys({ ...googleCatalogue, ...googleEndpoints().catalogue }), googleRefusal],
]
const cases = families.flatMap(([chat, models, refusal]) =>
  models
    .filter((model) => !/embedding|dall-e|gpt-image|tts|whisper|transcribe/.test(model))
    .map((model) => [model, chat, refusal] as const),
)

describe('what the fidelity of a model says', () => {
  it.each(cases)('of %s is true: what is not refused, its vendor takes', (model, chat, refusal) => {
    const refused: unknown[] = []
    const preview: NonNullable<Provider['chat']>['preview'] = (request) => {
      const { body, notes } = chat.request(request)
      const answer = refusal(model, JSON.parse(JSON.stringify(body)))
      // The one thing that is for other servers of the family.
      if (answer && !('made_up' in request)) refused.push([request, answer])
      return notes
    }
    fidelityOf({ preview } as NonNullable<Provider['chat']>, model)
    expect(refused).toEqual([])
  })
})

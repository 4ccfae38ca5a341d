import type { ChatCompletionRequest } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import type { ChatAdapter } from '@turnpike/providers'
import { anthropicChat, googleChat } from '@turnpike/providers'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anthropicRefusal } from '../../packages/providers/src/testing/anthropic-rules.js'
import { googleRefusal } from '../../packages/providers/src/testing/google-rules.js'
import { checkRequest } from '../support/decode.js'
import { arbitraryRequest } from './arbitrary-request.js'

/** `npm run fuzz` asks for more. */
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 300)

const families: {
  name: string
  adapter: ChatAdapter
  models: string[]
  refusal: (model: string, body: unknown) => string | undefined
}[] = [
  {
    name: 'Claude',
    adapter: anthropicChat('anthropic'),
    models: [
      'claude-sonnet-4-5',
      'claude-sonnet-4-20250514',
      'claude-opus-4-6',
      'claude-opus-4-8',
      'claude-3-haiku-20240307',
    ],
    refusal: (_, body) => anthropicRefusal(body),
  },
  {
    name: 'Gemini',
    adapter: googleChat('google'),
    models: ['gemini-2.5-flash', 'gemini-2.5-pro', 'gemini-3-flash-preview', 'gemini-3.1-pro-preview'],
    refusal: googleRefusal,
  },
]

describe.each(families)('any request to $name', ({ adapter, models, refusal }) => {
  it('becomes one that the vendor takes, or a 400 before it is asked', () => {
    let accepted = 0
    const refused = new Map<string, number>()
    const translate = (request: ChatCompletionRequest) => {
      try {
        return adapter.request(request)
      } catch (error) {
        if (!ApiError.is(error) || error.status !== 400) throw error
        const reason = error.message.replace(/".*"/, '"…"')
        refused.set(reason, (refused.get(reason) ?? 0) + 1)
        return undefined
      }
    }
    fc.assert(
      fc.property(arbitraryRequest(models), (request) => {
        checkRequest(request)
        const before = JSON.stringify(request)
        const made = translate(request)
        expect(JSON.stringify(request)).toBe(before)
        if (!made) return
        accepted++
        const sent: unknown = JSON.parse(JSON.stringify(made.body))
        expect(refusal(request.model, sent)).toBeUndefined()
        const noted = new Set(made.notes.map(({ field }) => field))
        for (const field of ['seed', 'logit_bias', 'made_up', 'logprobs'])
          if (request[field] && !JSON.stringify(sent).toLowerCase().includes(field)) expect(noted).toContain(field)
      }),
      { numRuns },
    )
    // The generator does not spend itself on what is refused.
    expect(accepted / numRuns).toBeGreaterThan(0.2)
    expect(refused.size).toBeGreaterThan(2)
  })
})

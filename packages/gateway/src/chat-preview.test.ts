import type { ChatCompletionRequest, Target } from '@turnpike/core'
import { describe, expect, it, vi } from 'vitest'
import { needOf } from './limits/chat-need.js'

const request: ChatCompletionRequest = {
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
  service_tier: 'flex',
  web_search_options: {},
  modalities: ['audio', 'image'],
  audio: { format: 'mp3', voice: 'alloy' },
}
const targetOf = (preview: () => never[]): Target => ({
  provider: {
    id: 'p',
    models: async () => [],
    chat: { oneChoice: true, preview, complete: vi.fn(), stream: vi.fn() },
  },
  model: 'm',
  price: { input: 1, output: 1 },
  catalogue: '',
})

describe('what a request needs of a target', () => {
  it.each<[what: string, preview: () => never[]]>([
    ['supports', () => []],
    [
      'refuses',
      () => {
        throw new Error('No')
      },
    ],
  ])('is asked of one translation, of a target that %s it', (_, preview) => {
    const counted = vi.fn(preview)
    const [target, other] = [targetOf(counted), targetOf(counted)]
    const need = needOf(request)
    for (let i = 0; i < 3; i++) {
      need.fits!(target, undefined)
      need.tier!(target)
      need.unpriced!(target)
    }
    expect(counted).toHaveBeenCalledTimes(1)
    need.unpriced!(other)
    needOf({ ...request }).unpriced!(target)
    expect(counted).toHaveBeenCalledTimes(3)
  })

  it('threat 223: is not translated again where it was refused, whatever is asked next', () => {
    const refuse = vi.fn((): never => {
      throw new Error('No')
    })
    const target = targetOf(refuse)
    target.provider.chat!.maxOutput = refuse
    const need = needOf(request)
    for (let i = 0; i < 3; i++) {
      need.most!(target)
      need.fits!(target, undefined)
    }
    expect(refuse).toHaveBeenCalledTimes(1)
  })

  it('has as many calls as answers where a call returns one', () => {
    const target = targetOf(() => [])
    expect([needOf({ ...request, n: 5 }).calls!(target), needOf(request).calls!(target)]).toEqual([5, 1])
    expect(
      needOf({ ...request, n: 5 }).calls!({
        ...target,
        provider: { ...target.provider, chat: { ...target.provider.chat!, oneChoice: false } },
      }),
    ).toBe(1)
  })
})

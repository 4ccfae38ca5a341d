import type { Provider } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { createRouter } from './router.js'

const provider = (id: string): Provider => ({ id, models: async () => [] })

describe('the providers of a router', () => {
  it.each<[what: unknown, error: string]>([
    [[], 'the option "providers" is an empty list'],
    [[undefined], 'the option "providers" has something that is no provider'],
    [[{ provider: undefined }], 'the option "providers" has something that is no provider'],
    [[provider('a b')], '"a b" cannot be the id of a provider'],
    [[{ provider: provider('auto') }], '"auto" cannot be the id of a provider'],
    [[provider('a'), { provider: provider('a'), wieght: 1 }], 'providers[1]: there is no option "wieght"'],
    ...[0, -1, NaN, Infinity, '2'].map((weight): [unknown, string] => [
      [{ provider: provider('a'), weight }],
      `providers[0]: the option "weight" is a number above 0, and not ${weight}`,
    ]),
  ])('%j are wrong', (providers, error) => {
    expect(() => createRouter({ providers: providers as Provider[] })).toThrow(error)
  })
})

import type { Provider } from '@turnpike/core'
import { anthropic, google, googleEndpoints, openai } from '@turnpike/providers'

const idsOf = async (provider: Provider): Promise<string[]> =>
  (await provider.models({ signal: new AbortController().signal })).map(({ id }) => id)

/**
 * The built-in catalogues as lists, for providers whose upstreams are fakes at addresses of their own: these are not asked for lists then, and get
 * the requests of the tests only.
 */
export const catalogues = {
  openai: await idsOf(openai({ apiKey: 'any' })),
  anthropic: await idsOf(anthropic({ apiKey: 'any' })),
  google: await idsOf(google({ apiKey: 'any', endpoints: googleEndpoints({ audio: true }) })),
}

import type { Provider } from '@turnpike/core'
import type { Transport } from '@turnpike/providers'
import { anthropic, google, openai } from '@turnpike/providers'
import { remoteContent } from '@turnpike/providers/remote-content'
import { fakeAnthropic, fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import type { Environment } from './environment.js'

/** The families that the server can offer: how each is made, and what stands in for it where nothing is configured. */
const families = [
  { name: 'OPENAI', make: openai, simulated: () => fakeOpenAI().transport },
  { name: 'ANTHROPIC', make: anthropic, simulated: () => fakeAnthropic().transport },
  { name: 'GEMINI', make: google, simulated: () => fakeGoogle().transport },
] as const

/** The providers that have a key or a base URL; with none configured, all of them, simulated. */
export function createProviders(
  environment: Environment,
  transport: Transport,
): { providers: Provider[]; simulated: boolean } {
  const images = environment.FETCH_IMAGES === 'true' ? { remoteContent: remoteContent() } : {}
  const providers: Provider[] = []
  for (const { name, make } of families) {
    const apiKey = environment[`${name}_API_KEY`]
    const baseURL = environment[`${name}_BASE_URL`]
    if (apiKey !== undefined || baseURL !== undefined)
      providers.push(make({ apiKey: apiKey ?? '', transport, ...images, ...(baseURL && { baseURL }) }))
  }
  return providers.length > 0
    ? { providers, simulated: false }
    : {
        providers: families.map(({ make, simulated }) =>
          make({ apiKey: 'simulated', transport: simulated(), ...images }),
        ),
        simulated: true,
      }
}

import type { ChatCompletionRequest, Provider } from '@turnpike/core'
import type { Transport } from '@turnpike/providers'
import { anthropic, createRouter, google, openai } from '@turnpike/providers'
import type { FakeUpstream } from '@turnpike/providers/testing'
import { fakeAnthropic, fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import type { Arbitrary } from 'fast-check'
import { testGateway } from '../support/gateway.js'
import { arbitraryRequest } from './arbitrary-request.js'

/** A family, the fake of its vendor, and requests to models that differ in what they take. */
export interface Family {
  make: (transport: Transport) => Provider
  fake: () => FakeUpstream
  requests: Arbitrary<ChatCompletionRequest>
}

export const families: Record<'OpenAI' | 'Claude' | 'Gemini', Family> = {
  OpenAI: {
    make: (transport) => openai({ apiKey: 'x', transport }),
    fake: fakeOpenAI,
    requests: arbitraryRequest(['gpt-4o', 'gpt-5'], false),
  },
  Claude: {
    make: (transport) => anthropic({ apiKey: 'x', transport }),
    fake: fakeAnthropic,
    requests: arbitraryRequest([
      'claude-sonnet-4-5',
      'claude-sonnet-4-20250514',
      'claude-opus-4-6',
      'claude-opus-4-8',
      'claude-fable-5',
      'claude-sonnet-5',
      'claude-haiku-5-5',
      'claude-sonnet-5-5',
      'claude-opus-6',
      'claude-3-haiku-20240307',
    ]),
  },
  Gemini: {
    make: (transport) => google({ apiKey: 'x', transport }),
    fake: fakeGoogle,
    requests: arbitraryRequest([
      'gemini-2.5-flash',
      'gemini-2.5-pro',
      'gemini-3-flash-preview',
      'gemini-3.1-pro-preview',
    ]),
  },
}

/** What became of a request. */
export interface Outcome {
  status: number
  text: string
  /** The header that names what was not told. */
  warnings: string
  /** The body of each upstream call. */
  sent: object[]
}

/** Sends requests through a whole gateway to the fake of a family. */
export async function gatewayTo({ make, fake }: Family): Promise<(request: object) => Promise<Outcome>> {
  const { transport, requests } = fake()
  const { chat } = await testGateway({
    router: createRouter({ providers: [make(transport)] }),
    rateLimit: 1_000_000_000,
  })
  return async (request) => {
    const response = await chat(request)
    return {
      status: response.status,
      text: await response.text(),
      warnings: response.headers.get('x-gateway-warnings') ?? '',
      sent: requests.splice(0).map(({ body }) => body as object),
    }
  }
}

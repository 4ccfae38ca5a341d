import type { ClientOptions } from '@turnpike/client'
import { createClient } from '@turnpike/client'
import type { PlatformOptions } from '@turnpike/platform'
import type { TestOptions } from './gateway.js'
import { ADA, testPlatform } from './platform.js'

/** What answers a request in place of the platform: an answer, or an error of the network. */
export type Fault = (request: Request) => Response | Error | undefined

/** A client of a platform in this process, and what it sent. */
export async function testClient(
  options: Partial<ClientOptions> = {},
  on: TestOptions = {},
  more: Partial<PlatformOptions> = {},
) {
  const at = await testPlatform(on, more)
  /** The requests as `POST /api/auth`. */
  const sent: string[] = []
  const faults: Fault[] = []
  const signedOut: number[] = []
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(url, init)
    sent.push(`${request.method} ${request.url.slice('https://app.example'.length)}`)
    // As undici does it before anything is sent.
    request.signal.throwIfAborted()
    const answer = faults.map((fault) => fault(request)).find((found) => found !== undefined)
    if (answer instanceof Error) throw answer
    return answer ?? at.platform.fetch(request)
  }
  const newClient = (more: Partial<ClientOptions> = {}) =>
    createClient({
      baseUrl: 'https://app.example',
      fetch,
      onSignedOut: () => void signedOut.push(sent.length),
      ...options,
      ...more,
    })
  return {
    ...at,
    turnpike: newClient(),
    newClient,
    sent,
    signedOut,
    /** Answers in place of the platform, until it returns undefined. */
    faults,
    /** Sets the clock of the platform ahead, in minutes. */
    pass: (minutes: number) => void (at.clock.now += minutes * 60_000),
  }
}

/** A {@link testClient} that has signed in; what it sent for that is forgotten. */
export async function signedInClient(...options: Parameters<typeof testClient>) {
  const at = await testClient(...options)
  await at.turnpike.signIn(ADA)
  at.sent.splice(0)
  return at
}

/** What a promise rejects with. */
export const failure = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => Promise.reject(new Error('It did not fail')),
    (error: Error) => error,
  )

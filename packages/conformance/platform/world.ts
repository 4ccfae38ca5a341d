// What the tests of test/platform import as `./world.js` when they run against a platform somewhere else: an administrator makes the people.
import type { PlatformTarget } from '../src/platform.js'
import { platformClient } from '../../../test/platform/client.js'
import type { World } from '../../../test/platform/world.js'
import { beforeAll, describe, NotTried } from './vitest.js'

export * from '../../../test/platform/client.js'

/** Milliseconds after which the administrator signs in again: access tokens are valid for a quarter of an hour. */
const SIGN_IN_MS = 600_000

let target: World | undefined

/** Signs in at the platform that the tests are to run against. @throws Error if that fails */
export async function useTarget({ url, email, password }: PlatformTarget): Promise<void> {
  const post = async <T>(path: string, body: object, token?: string): Promise<T> => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`POST ${path} answered ${response.status}: ${text.slice(0, 300)}`)
    return JSON.parse(text) as T
  }
  let signedInAt = 0
  let token = ''
  const administrator = async (): Promise<string> => {
    if (Date.now() > signedInAt + SIGN_IN_MS) {
      token = (await post<{ access_token: string }>('/api/auth', { email, password })).access_token
      signedInAt = Date.now()
    }
    return token
  }
  await administrator()
  const notTried = (why: string) => (): never => {
    throw new NotTried(why)
  }
  const world = {
    ...platformClient(url, async (user) => post('/api/users', user, await administrator())),
    call: notTried('needs a hand in the process of the platform'),
    advance: notTried('needs a clock that can be set'),
  }
  const upstream = notTried('needs the upstream of the gateway')
  target = Object.defineProperties(world as unknown as World, {
    upstream: { get: upstream },
    fault: { get: upstream, set: upstream },
  })
}

/** In place of a process of the tests' own. */
export const startWorld = (): never => {
  throw new NotTried('needs a process of its own')
}

/** A suite of the tests of test/platform. One that needs settings of its own is not tried. */
export function worldSuite(name: string, suite: (world: () => World) => void, env: Record<string, string> = {}): void {
  const settings = Object.entries(env).map(([key, value]) => `${key}=${value}`)
  describe(name, () => {
    beforeAll(() => {
      if (settings.length > 0) throw new NotTried(`needs a server with ${settings.join(' ')}`)
    })
    suite(() => target!)
  })
}

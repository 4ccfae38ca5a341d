import type { RequestListener } from 'node:http'
import { createMiddleware } from '@hattip/adapter-node'
import type { HattipHandler } from '@hattip/core'
import type { NodeListener } from '@turnpike/http'

/**
 * What the server answers with on Node: paths of the gateway and the platform go through their own listener, which costs about half of
 * HatTip's adapter; every other path goes on to what HatTip composes, and is a 404 of the listener's where nobody there has it.
 */
export function serverListener(
  node: NodeListener,
  { handler, origin }: { handler: HattipHandler; origin: string },
): RequestListener {
  const composed = createMiddleware(handler, { origin, alwaysCallNext: false })
  return (request, response) => {
    const notOurs = (): void => composed(request as never, response, () => void node(request, response))
    void node(request, response, notOurs)
  }
}

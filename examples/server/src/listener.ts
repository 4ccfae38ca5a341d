import type { RequestListener } from 'node:http'
import { createMiddleware } from '@hattip/adapter-node'
import type { HattipHandler } from '@hattip/core'
import type { NodeListener } from '@turnpike/http'

/**
 * The server's request listener on Node. Routes of the gateway and the platform are served by their own listener, which costs about half
 * of HatTip's adapter. All other paths go to the HatTip composition; if no handler there matches, the listener responds with 404.
 */
export function serverListener(
  node: NodeListener,
  { handler, origin }: { handler: HattipHandler; origin: string },
): RequestListener {
  const composed = createMiddleware(handler, { origin, alwaysCallNext: false })
  return (request, response) => {
    const next = (): void => composed(request as never, response, () => void node(request, response))
    void node(request, response, next)
  }
}

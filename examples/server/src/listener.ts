import type { RequestListener } from 'node:http'
import { createMiddleware } from '@hattip/adapter-node'
import type { HattipHandler } from '@hattip/core'
import type { Gateway } from '@turnpike/gateway'

/**
 * What the server answers with on Node: the gateway's paths go through its own listener, which costs about half of HatTip's adapter;
 * every other path goes on to what HatTip composes, and is a 404 of the gateway's where nobody there has it.
 */
export function serverListener(
  gateway: Gateway,
  { handler, origin }: { handler: HattipHandler; origin: string },
): RequestListener {
  const composed = createMiddleware(handler, { origin, alwaysCallNext: false })
  return (request, response) => {
    const notOurs = (): void => composed(request as never, response, () => void gateway.node(request, response))
    void gateway.node(request, response, notOurs)
  }
}

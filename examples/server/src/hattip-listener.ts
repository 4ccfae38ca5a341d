import type { IncomingMessage, RequestListener } from 'node:http'
import { createMiddleware } from '@hattip/adapter-node'
import type { Gateway } from '@turnpike/gateway'
import { createListener } from '@turnpike/http/node'

/** The gateway on HatTip's adapter for Node, relieved of what the adapter does for handlers that live on its `Request`. */
export function hattipListener(
  gateway: Gateway,
  { origin, trustedHops = 0 }: { origin: string; trustedHops?: number },
): RequestListener {
  const hattip = createMiddleware(
    (context) => {
      // As soon as a body has been read, the adapter aborts its `Request`: an error with its stack, for nobody, and a fifth of a request's time.
      context.platform.request.removeAllListeners('close')
      return gateway.hattip(context)
    },
    { origin, alwaysCallNext: false },
  )
  const fallback = createListener(gateway, { trustedHops })
  return (request: IncomingMessage & { rawBody?: null }, response) => {
    // The gateway reads the body itself; null keeps the adapter from wrapping it into a stream that nobody reads.
    request.rawBody = null
    void hattip(request as never, response, () => fallback(request, response))
  }
}

import type { IncomingMessage, RequestListener } from 'node:http'
import { createMiddleware } from '@hattip/adapter-node'
import type { Gateway } from '@turnpike/gateway'

/**
 * Serves the gateway through HatTip's adapter for Node, without the adapter's work for handlers that use its `Request`. The server itself
 * uses listener.ts; this listener is for hosts in which HatTip's adapter receives every request.
 */
export function hattipListener(gateway: Gateway, { origin }: { origin: string }): RequestListener {
  const hattip = createMiddleware(
    (context) => {
      // The adapter aborts its `Request` once the body has been read. The unused AbortError costs a fifth of the request's CPU time.
      context.platform.request.removeAllListeners('close')
      return gateway.hattip(context)
    },
    { origin, alwaysCallNext: false },
  )
  return (request: IncomingMessage & { rawBody?: null }, response) => {
    // The gateway reads the body itself. With null, the adapter does not convert the body to a stream, which would not be used.
    request.rawBody = null
    void hattip(request as never, response, () => void gateway.node(request, response))
  }
}

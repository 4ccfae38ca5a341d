import type { IncomingMessage, RequestListener } from 'node:http'
import { createMiddleware } from '@hattip/adapter-node'
import type { Gateway } from '@turnpike/gateway'

/**
 * The gateway on HatTip's adapter for Node alone, without what the adapter does for handlers that use its `Request`. The server itself
 * does not need it (listener.ts); it is for hosts where HatTip's adapter takes every request.
 */
export function hattipListener(gateway: Gateway, { origin }: { origin: string }): RequestListener {
  const hattip = createMiddleware(
    (context) => {
      // As soon as a body has been read, the adapter aborts its `Request`: an error with its stack, for nobody, and a fifth of a request's time.
      context.platform.request.removeAllListeners('close')
      return gateway.hattip(context)
    },
    { origin, alwaysCallNext: false },
  )
  return (request: IncomingMessage & { rawBody?: null }, response) => {
    // The gateway reads the body itself; null keeps the adapter from wrapping it into a stream that nobody reads.
    request.rawBody = null
    void hattip(request as never, response, () => void gateway.node(request, response))
  }
}

import type { User } from '@turnpike/core'
import type { CorsOptions, Exchange, Handler, Servable } from '@turnpike/http'

/** What is needed of a gateway: {@link createGateway} of `@turnpike/gateway` makes one. */
export interface UserGateway {
  /** Its routes for callers without a gateway key. */
  as(
    authenticate: (exchange: Exchange) => Promise<User> | User,
    options?: { cors?: CorsOptions; countCalls?: (user: User, calls: number) => Promise<void> },
  ): Servable
}

const PREFIX = '/api/gateway'

/** Whether a path is one of the gateway for browsers. */
export const isBrowserGateway = (path: string): boolean => path.startsWith(`${PREFIX}/v1/`)

/**
 * The gateway for whoever is signed in (spec.md: `/api/gateway/v1`): the routes of a gateway in this process, without a hop over HTTP. Its errors
 * have the gateway's body, also those of the sign-in.
 * @param options.authenticate the user of a request, which it counts. @throws ApiError 401, 403 or 429
 * @param options.countCalls counts the calls of a request beyond its first. @throws ApiError 429
 */
export function browserGateway(
  gateway: UserGateway,
  {
    authenticate,
    ...options
  }: {
    authenticate: (exchange: Exchange) => Promise<User>
    countCalls: (user: User, calls: number) => Promise<void>
    cors: CorsOptions
  },
): Handler {
  const { handle } = gateway.as(authenticate, options)
  return (exchange) => handle({ ...exchange, path: exchange.path.slice(PREFIX.length) })
}

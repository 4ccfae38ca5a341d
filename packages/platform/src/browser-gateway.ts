import type { User } from '@turnpike/core'
import type { Authenticator, CorsOptions, Handler, SameOriginOptions, Servable } from '@turnpike/http'

/** What a platform tells its gateway: whose pages may call it, and what counts the requests of each user. */
export interface UserGatewayOptions extends SameOriginOptions {
  cors?: CorsOptions
  /** @throws ApiError 429 where there are too many in a minute */
  count?: (user: User, calls: number) => Promise<void>
}

/** What is needed of a gateway: {@link createGateway} of `@turnpike/gateway` makes one. */
export interface UserGateway {
  /** Its routes for callers without a gateway key. */
  as(identity: Authenticator, options?: UserGatewayOptions): Servable
}

const PREFIX = '/api/gateway'

/** Whether a path is one of the gateway for browsers. */
export const isBrowserGateway = (path: string): boolean => path.startsWith(`${PREFIX}/v1/`)

/**
 * The gateway for whoever is signed in, `/api/gateway/v1`: the routes of a gateway in this process, without a hop over HTTP. Its errors
 * have the gateway's body, also those of the sign-in.
 */
export function browserGateway(gateway: UserGateway, identity: Authenticator, options: UserGatewayOptions): Handler {
  const { handle } = gateway.as(identity, options)
  return (exchange) => handle({ ...exchange, path: exchange.path.slice(PREFIX.length) })
}

import type { DefineOperation, Route } from '@turnpike/http'
import * as http from '@turnpike/http'
import type { Caller } from './caller.js'

/**
 * Who may call a route of the gateway: anybody, a gateway key, a key for what is its owner's and an administrator for everything, administrators,
 * or administrators and what monitors the gateway, such as Prometheus.
 */
export type Access = 'open' | 'key' | 'self' | 'admin' | 'monitor'

/** A route of the gateway. */
export type GatewayRoute = Route<Caller, Access>

/** An operation of the gateway, with types inferred from its schemas. */
export const operation: DefineOperation<Caller, Access> = http.operation

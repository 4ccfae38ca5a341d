import type { DefineOperation, Route } from '@turnpike/http'
import * as http from '@turnpike/http'
import type { Caller } from './caller.js'

/** Who may call a route of the platform: anybody, whoever is signed in, developers and administrators, or administrators. */
export type Access = 'open' | 'user' | 'developer' | 'admin'

/** A route of the platform. */
export type PlatformRoute = Route<Caller, Access>

/** An operation of the platform, with types inferred from its schemas. */
export const operation: DefineOperation<Caller, Access> = http.operation

import type { Handler, ShellOptions } from './exchange.js'
import type { BunServer, FetchCall } from './fetch-shell.js'
import { fetchShell } from './fetch-shell.js'
import type { HattipHandler } from './hattip-shell.js'
import { hattipShell } from './hattip-shell.js'
import type { NodeListener } from './node-shell.js'
import { nodeShell } from './node-shell.js'

/** A handler in the form that each kind of host takes. */
export interface Shells {
  /** Serves a web `Request`. @param host what is known of the call besides, or the server of Bun, which tells it */
  fetch(request: Request, host?: FetchCall | BunServer): Promise<Response>
  /** Serves any HatTip adapter. */
  hattip: HattipHandler
  /** Serves node:http, Express and every other connect-style host. */
  node: NodeListener
}

/**
 * The shells of a handler.
 * @example const { fetch, node } = shells(servable.handle)
 */
export const shells = (handle: Handler, options: ShellOptions = {}): Shells => ({
  fetch: fetchShell(handle, options),
  hattip: hattipShell(handle, options),
  node: nodeShell(handle, options),
})

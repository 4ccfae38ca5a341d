import type { AdapterRequestContext, HattipHandler } from '@hattip/core'
import type { Handler, ShellOptions } from './exchange.js'
import { fetchShell } from './fetch-shell.js'
import type { NodeRequest, NodeResponse } from './node-shell.js'
import { nodeShell } from './node-shell.js'

export type { HattipHandler }

/** What @hattip/adapter-node puts into `context.platform`. */
interface NodePlatform {
  name: 'node'
  request: NodeRequest
  response: NodeResponse
}

const isNode = (platform: unknown): platform is NodePlatform =>
  typeof platform === 'object' && platform !== null && (platform as Partial<NodePlatform>).name === 'node'

/** What an adapter sends that has nobody to pass the request on to. */
const notOurs = (): Response => new Response(null, { status: 404 })

/**
 * Serves any HatTip adapter. On Node it reads and writes `context.platform` itself, because the adapter's `Request` loses the client's
 * departure and its `Response` costs more than the gateway; the adapter is then left waiting for a response that it no longer has to send.
 */
export function hattipShell(handle: Handler, options: ShellOptions = {}): HattipHandler {
  const viaNode = nodeShell(handle, options)
  const viaFetch = fetchShell(handle, options)
  return (context: AdapterRequestContext) => {
    const { platform } = context
    if (!isNode(platform)) return viaFetch(context.request, { ip: context.ip })
    return new Promise((resolve, reject) => {
      const pass = (): void => {
        context.passThrough()
        resolve(notOurs())
      }
      viaNode(platform.request, platform.response, pass).catch(reject)
    })
  }
}

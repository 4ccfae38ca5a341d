import type { AdapterRequestContext, HattipHandler } from '@hattip/core'
import type { Handler, ShellOptions } from './exchange.js'
import { fetchShell } from './fetch-shell.js'
import type { NodeRequest } from './node-shell.js'
import type { NodeResponse } from './node-stream.js'
import { nodeShell } from './node-shell.js'

export type { HattipHandler }

/** `context.platform` of @hattip/adapter-node. */
interface NodePlatform {
  name: 'node'
  request: NodeRequest
  response: NodeResponse
}

/** `context.platform` of @hattip/adapter-bun. */
interface BunPlatform {
  name: 'bun'
  server: { timeout(request: Request, seconds: number): void }
}

const isBun = (platform: unknown): platform is BunPlatform => (platform as Partial<BunPlatform> | null)?.name === 'bun'

const isNode = (platform: unknown): platform is NodePlatform =>
  typeof platform === 'object' && platform !== null && (platform as Partial<NodePlatform>).name === 'node'

/** The response of adapters that have no further handler. */
const notFound = (): Response => new Response(null, { status: 404 })

/**
 * Serves any HatTip adapter. On Node it uses the request and response of `context.platform` directly, because the adapter's `Request` does
 * not report client disconnects and its `Response` costs more CPU than the gateway. The returned promise then stays pending, so that the
 * adapter does not send a second response.
 * @example export default hattipShell(servable.handle)
 */
export function hattipShell(handle: Handler, options: ShellOptions = {}): HattipHandler {
  const viaNode = nodeShell(handle, options)
  const viaFetch = fetchShell(handle, options)
  return (context: AdapterRequestContext) => {
    const { platform, request, ip } = context
    if (isBun(platform))
      return viaFetch(request, { ip, setIdleTimeout: (seconds) => platform.server.timeout(request, seconds) })
    if (!isNode(platform)) return viaFetch(request, { ip })
    return new Promise((resolve, reject) => {
      const pass = (): void => {
        context.passThrough()
        resolve(notFound())
      }
      viaNode(platform.request, platform.response, pass).catch(reject)
    })
  }
}

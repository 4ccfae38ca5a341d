import { createServer } from 'node:http'
import { memoryKV } from '@turnpike/core'
import { dashboardFiles, dashboardHeaders } from '@turnpike/dashboard'
import { docsFiles, docsHeaders } from '@turnpike/dashboard/docs'
import type { GatewayParts } from '@turnpike/gateway'
import { conventionRoutes, createGateway, requestEvents } from '@turnpike/gateway'
import { gatewayDocument } from '@turnpike/gateway/openapi'
import { assetRoutes } from '@turnpike/http'
import { createPlatform, gatewayResponder, passwordAuth } from '@turnpike/platform'
import { platformDocument } from '@turnpike/platform/openapi'
import { createRouter, openai } from '@turnpike/providers'
import { fakeOpenAI } from '@turnpike/providers/testing'

const kv = await memoryKV()
const router = createRouter({ providers: [openai({ apiKey: 'any', transport: fakeOpenAI().transport })] })

const pages = ({ routes }: GatewayParts) => [
  ...assetRoutes(dashboardFiles, { access: 'open' as const, headers: { ...dashboardHeaders } }),
  ...assetRoutes(
    docsFiles(() => ({ gateway: gatewayDocument(routes()), platform: platformDocument(platform.routes) })),
    { access: 'open' as const, headers: docsHeaders },
  ),
]

const gateway = createGateway({
  router,
  kv,
  authenticateAdmin: (exchange) => platform.authenticateAdmin(exchange),
  events: requestEvents(),
  routes: [conventionRoutes, pages],
})
const platform = createPlatform({
  kv,
  gateway,
  identity: passwordAuth({ kv }),
  responder: gatewayResponder(gateway, { models: () => router.agentModels() }),
})

/** Gateway, platform and pages on one port, with their one user. */
export const credentials = { email: 'ada@example.org', password: 'correct horse' }
await platform.operations.users.create({ ...credentials, role: 'admin' })
export const server = createServer(
  (request, response) => void gateway.node(request, response, () => void platform.node(request, response)),
)

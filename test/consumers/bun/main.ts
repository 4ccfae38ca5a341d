import { gateway } from './gateway.js'

Bun.serve({ fetch: (request) => gateway.fetch(request), idleTimeout: 0 })

import { gateway } from './gateway.js'

Bun.serve({ fetch: gateway.fetch, idleTimeout: 0 })

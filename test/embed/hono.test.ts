import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { gatewaySuite } from './gateway-suite.js'
import { listen } from './setup.js'

gatewaySuite('Hono', (gateway) => {
  const app = new Hono()
  app.all('*', (c) => gateway.fetch(c.req.raw))
  return listen(createAdaptorServer({ fetch: app.fetch }) as Server)
})

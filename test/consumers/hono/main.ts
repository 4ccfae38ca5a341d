import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { gateway } from './gateway.js'

const app = new Hono()
app.all('/v1/*', (c) => gateway.fetch(c.req.raw))
serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 8787) })

import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'
import { gateway } from './gateway.js'
import { platform } from './platform.js'

const app = new Hono()
app.all('/v1/*', (c) => gateway.fetch(c.req.raw))
// The address, so that wrong passwords and requests without a user are counted by it.
app.all('/api/*', (c) => platform.fetch(c.req.raw, { ip: getConnInfo(c).remote.address ?? '' }))
app.get('/.well-known/jwks.json', (c) => platform.fetch(c.req.raw))
app.get('/', (c) => c.text('My app'))
serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 8787) })

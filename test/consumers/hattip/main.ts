import { createServer } from '@hattip/adapter-node'
import { gateway } from './gateway.js'

createServer(gateway.hattip, { alwaysCallNext: false }).listen(process.env.PORT ?? 8787)

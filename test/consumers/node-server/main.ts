import { createServer } from '@turnpike/http/node'
import { gateway } from './gateway.js'

createServer(gateway).listen(process.env.PORT ?? 8787)

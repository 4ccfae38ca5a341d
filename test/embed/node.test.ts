import { createServer } from '@turnpike/http/node'
import { gatewaySuite } from './gateway-suite.js'
import { listen, serve } from './setup.js'

gatewaySuite('node:http', (gateway) => serve((request, response) => void gateway.node(request, response)))

gatewaySuite('createServer', (gateway) => listen(createServer(gateway)))

import { createServer } from '@turnpike/http/node'
import { gatewaySuite } from './gateway-suite.js'
import { listen, serve } from './setup.js'

gatewaySuite('node:http', (gateway) => serve((request, response) => void gateway.node(request, response)))

gatewaySuite('createServer', (gateway) => listen(createServer(gateway)))

gatewaySuite('node:http behind a middleware that writes in its own way', (gateway) =>
  serve((request, response) => {
    const write = response.write.bind(response) as (piece: string) => boolean
    response.write = (piece: string) => write(piece)
    void gateway.node(request, response)
  }),
)

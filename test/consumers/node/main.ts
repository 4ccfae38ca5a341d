import { createServer } from 'node:http'
import { gateway } from './gateway.js'

createServer((request, response) => {
  gateway.node(request, response, () => void response.end('My app'))
}).listen(process.env.PORT ?? 8787)

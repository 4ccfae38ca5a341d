import { createServer } from 'node:http'
import { gateway } from './gateway.js'

createServer((request, response) => void gateway.node(request, response)).listen(process.env.PORT ?? 8787)

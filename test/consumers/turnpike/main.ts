import { createServer } from 'node:http'
import { turnpike } from 'turnpike'

const app = await turnpike({ providers: [{ type: 'openai', simulated: true }], store: 'memory' })
createServer((request, response) => void app.node(request, response)).listen(process.env.PORT ?? 8787)

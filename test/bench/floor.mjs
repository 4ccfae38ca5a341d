/** The floor: a proxy of node:http and undici that does no work of its own. */
import { createServer } from 'node:http'
import { Agent } from 'undici'

const { PORT, UPSTREAM } = process.env
const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 })

createServer((request, response) => {
  const pieces = []
  request.on('data', (piece) => pieces.push(piece))
  request.on('end', () =>
    agent.dispatch(
      {
        origin: UPSTREAM,
        path: request.url,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: pieces.length === 1 ? pieces[0] : Buffer.concat(pieces),
      },
      {
        onRequestStart() {},
        onResponseStart(_, status, { 'transfer-encoding': _chunked, ...headers }) {
          response.writeHead(status, headers)
        },
        onResponseData: (_, piece) => response.write(piece),
        onResponseEnd: () => response.end(),
        onResponseError: () => response.destroy(),
      },
    ),
  )
}).listen(Number(PORT), '127.0.0.1')

import { once } from 'node:events'
import type { IncomingMessage, Server as HttpServer } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A provider that has the model `m`, and answers with its name, to its own key (`key-NAME`) only. A stream waits for `finish` after its first piece. */
export interface NamedUpstream {
  name: string
  url: string
  sockets: number
  server: HttpServer
  finish(): void
}

const chunk = (content: string, finish: string | null) =>
  `data: ${JSON.stringify({
    id: 'x',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
  })}\n\n`

export async function namedUpstream(name: string): Promise<NamedUpstream> {
  let finish = (): void => undefined
  const finished = new Promise<void>((resolve) => (finish = resolve))
  const server = createServer((request: IncomingMessage, response) => {
    let body = ''
    request.on('data', (data: Buffer) => (body += data.toString()))
    request.on('end', () => {
      const json = (status: number, value: object): void =>
        void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
      if (request.headers.authorization !== `Bearer key-${name}`) return json(401, { error: { message: 'Wrong key' } })
      if (request.method === 'GET') return json(200, { object: 'list', data: [{ id: 'm', object: 'model' }] })
      if ((JSON.parse(body) as { stream?: boolean }).stream) {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk(name, null))
        void finished.then(() => response.end(`${chunk(name, 'stop')}data: [DONE]\n\n`))
        return
      }
      const message = { role: 'assistant', content: name }
      json(200, {
        id: 'x',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      })
    })
  })
  const made: NamedUpstream = { name, url: '', sockets: 0, server, finish }
  server.on('connection', (socket) => {
    made.sockets++
    socket.on('close', () => made.sockets--)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  made.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return made
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { UsageRecord } from '@turnpike/core'
import type { Callee } from '../support/raw-client.js'
import { runtimePath } from '../support/runtime.js'

/** A gateway with limits of its own. */
export interface OverloadServer {
  /** With keys of two users, and one more of the first. */
  callees: [one: Callee, two: Callee, more: Callee]
  /** The usage records so far. */
  records: UsageRecord[]
  stop(): Promise<void>
}

/** Starts overload-server.mjs on the chosen runtime. @param options of the gateway */
export async function startOverloadServer(baseURL: string, options: object): Promise<OverloadServer> {
  const script = fileURLToPath(new URL('overload-server.mjs', import.meta.url))
  const child = spawn(runtimePath(), [script], {
    env: { PATH: process.env['PATH'], OPENAI_BASE_URL: `${baseURL}/v1`, OPTIONS: JSON.stringify(options) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  const [line] = (await once(lines, 'line')) as [string]
  const { url, keys } = JSON.parse(line) as { url: string; keys: string[] }
  const records: UsageRecord[] = []
  lines.on('line', (record) => void records.push(JSON.parse(record)))
  return {
    callees: keys.map((key) => ({ url, key })) as OverloadServer['callees'],
    records,
    async stop() {
      child.kill()
      await once(child, 'exit')
    },
  }
}

/** The bytes of a chat request on a socket of its own. @param length that is announced, where it is not that of the body */
export function sendOn({ url, key }: Callee, body: string, length = body.length): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    'host: x',
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${length}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  return socket
}

import { workTasks } from '@turnpike/agent'
import { createClient } from '@turnpike/client'
import { terminalApproval } from './approve.js'
import { lineOf, plain } from './lines.js'
import { agentOf } from './team.js'
import { toolsOf } from './tools.js'

const {
  PLATFORM_URL: baseUrl = 'http://127.0.0.1:8787',
  TOKEN: token,
  FOLDER = '.',
  ALLOW = '',
  CONCURRENCY = '4',
} = process.env
if (!token) throw new Error('Set TOKEN to a token of POST /api/tokens')

const client = createClient({ baseUrl, token })
const controller = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => controller.abort())

console.log(`Working on the tasks at ${baseUrl}`)
await workTasks({
  client,
  agents: agentOf,
  defaults: { tools: toolsOf(client, FOLDER), approve: terminalApproval(new Set(ALLOW.split(','))) },
  concurrency: Number(CONCURRENCY),
  signal: controller.signal,
  onEvent({ title }, event) {
    const line = lineOf(title, event)
    if (line !== undefined) console.log(line)
  },
  onError: (error) => console.error(plain(error instanceof Error ? error.message : String(error))),
})
// A tool that does not heed its signal may still run.
process.exit()

import { workTasks } from '@turnpike/agent'
import { createClient } from '@turnpike/client'
import { terminalApproval } from './approve.js'
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
    if (event.type === 'step') console.log(`${title}: ${event.agent} asks ${event.model}`)
    if (event.type === 'call') console.log(`${title}: ${event.name} ${JSON.stringify(event.args)}`)
    if (event.type === 'refused') console.log(`${title}: ${event.reason}`)
    if (event.type === 'end') console.log(`${title}: ${event.status}${'reason' in event ? `, ${event.reason}` : ''}`)
  },
  onError: (error) => console.error(error instanceof Error ? error.message : error),
})
// A tool that does not heed its signal may still run.
process.exit()

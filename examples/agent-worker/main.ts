import { workTasks } from '@turnpike/agent'
import { createClient } from '@turnpike/client'
import { terminalOf } from './approve.js'
import { lineOf, linesOf } from './lines.js'
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
const { approve, say } = terminalOf(new Set(ALLOW.split(',')))
const controller = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => controller.abort())

console.log(`Working on the tasks at ${baseUrl}`)
await workTasks({
  client,
  agents: agentOf,
  defaults: { tools: toolsOf(client, FOLDER), approve },
  concurrency: Number(CONCURRENCY),
  signal: controller.signal,
  onEvent({ title }, event) {
    const line = lineOf(title, event)
    if (line !== undefined) say(line)
  },
  onError: (error) => say(linesOf(error instanceof Error ? error.message : String(error), '!').trimEnd()),
})
// A tool that does not heed its signal may still run.
process.exit()

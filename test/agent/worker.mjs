// A worker of the platform at PLATFORM_URL with TOKEN. It prints, as a line of JSON each, when a tool begins and ends, and how tasks end.
import { setTimeout as sleep } from 'node:timers/promises'
import { workTasks } from '@turnpike/agent'
import { createClient } from '@turnpike/client'

const { PLATFORM_URL: baseUrl, TOKEN: token, LEASE, TOOL_MS } = process.env
const say = (what) => process.stdout.write(`${JSON.stringify({ ...what, at: Date.now() })}\n`)
const controller = new AbortController()
process.once('SIGTERM', () => controller.abort())

await workTasks({
  client: createClient({ baseUrl, token }),
  agents: ({ title }) => ({
    model: 'gpt-4o-mini',
    approve: 'always',
    tools: [
      {
        name: 'measure',
        description: 'Measures for some time',
        parameters: { type: 'object', properties: {} },
        async run(_, { signal }) {
          say({ what: 'begin', title })
          await sleep(Number(TOOL_MS), undefined, { signal })
          say({ what: 'end', title })
          return 'Measured'
        },
      },
    ],
  }),
  concurrency: 4,
  lease: Number(LEASE),
  poll: 0.1,
  signal: controller.signal,
  onEvent({ title }, event) {
    if (event.type === 'end') say({ what: event.status, title, reason: event.reason })
  },
  onError: (error) => say({ what: 'error', title: error.message }),
})
say({ what: 'left', title: '' })

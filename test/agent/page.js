// A page of a user's app in which an agent does tasks.
import { runTask } from '@turnpike/agent'
import { createClient } from '@turnpike/client'

const client = createClient()
const controller = new AbortController()

const tool = {
  name: 'look_up_weather',
  description: 'The weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  seconds: 0.2,
  run({ city }) {
    if (city === 'Rome') throw new Error('No such city')
    return city === 'Lima' ? new Promise(() => undefined) : `It is sunny in ${city}`
  },
}

Object.assign(globalThis, {
  client,
  controller,

  /** Does a task. Calls for Bonn are refused. @returns how it ended, and why requests were sent again */
  async run(id, limits = {}) {
    const retries = []
    const outcome = await runTask({
      client,
      task: await client.get('/api/tasks/{id}', { params: { id } }),
      model: 'gpt-4o-mini',
      lease: 3,
      limits,
      tools: [tool],
      approve: ({ args }) => args.city !== 'Bonn' || 'Ask me tomorrow',
      signal: controller.signal,
      onEvent: (event) => event.type === 'retry' && retries.push(event.reason),
    })
    return { outcome, retries }
  },
})

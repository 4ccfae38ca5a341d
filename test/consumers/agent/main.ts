import type { Outcome, Tool } from '@turnpike/agent'
import { runTask } from '@turnpike/agent'
import { createClient } from '@turnpike/client'

/** Signs in, makes a task, and has an agent do it with a tool. */
export async function use(
  baseUrl: string,
  credentials: { email: string; password: string },
): Promise<{ outcome: Outcome; cities: string[] }> {
  const client = createClient({ baseUrl })
  await client.signIn(credentials)
  const { id: projectId } = await client.post('/api/projects', { body: { name: 'Website' } })
  const task = await client.post('/api/tasks', { body: { projectId, title: 'Call look_up_weather' } })
  const cities: string[] = []
  const tool: Tool = {
    name: 'look_up_weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    run({ city }: { city: string }) {
      cities.push(city)
      return 'Sunny'
    },
  }
  const outcome = await runTask({ client, task, model: 'gpt-4o-mini', tools: [tool], approve: 'always' })
  return { outcome, cities }
}

import type { AgentEvent, Outcome, RunTaskOptions, Task, Tool } from '@turnpike/agent'
import { runTask } from '@turnpike/agent'
import type { FakeAnswer, FakeRequest } from '@turnpike/providers/testing'
import type { Script } from '../clients/scripted-upstream.js'
import { scripted } from '../clients/scripted-upstream.js'
import { signedInClient } from './client.js'

/** A tool that looks something up, and what it was asked. */
export function lookUp(answer: (city: string) => unknown = (city) => `It is sunny in ${city}`) {
  const asked: string[] = []
  const tool: Tool = {
    name: 'look_up_weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    run({ city }: { city: string }) {
      asked.push(city)
      return answer(city)
    },
  }
  return { tool, asked }
}

/** A model that looks up the weather of a city, then writes what it was told. */
export const weather: Script = (results) =>
  results.length === 0
    ? { text: 'Let me look.', calls: [{ id: 'a', name: 'look_up_weather', input: { city: 'Oslo' } }] }
    : { text: `The result: ${results.join(', ')}`, calls: [] }

/** A project with a task on a platform in this process, whose models speak by a script. */
export async function scriptedTask(script: Script = weather, fields: object = {}) {
  const at = await signedInClient(
    {},
    {
      upstream: (request) =>
        request.path.endsWith('/chat/completions')
          ? (state.fault?.(request) ?? scripted('openai', request, state.script))
          : undefined,
    },
  )
  const state: { script: Script; fault?: ((request: FakeRequest) => FakeAnswer | undefined) | undefined } = { script }
  const { turnpike } = at
  const project = await turnpike.post('/api/projects', { body: { name: 'Website', teamType: 'software-development' } })
  const task = await turnpike.post('/api/tasks', {
    body: { projectId: project.id, title: 'Weather', description: 'Of Oslo', assignedAgentId: 2, ...fields },
  })
  const read = (): Promise<Task> => turnpike.get('/api/tasks/{id}', { params: { id: task.id } })
  const change = (body: Partial<Task>): Promise<Task> =>
    turnpike.patch('/api/tasks/{id}', { params: { id: task.id }, body: body as object })
  const events: AgentEvent[] = []
  /** Runs the task as it is now, with a lease of 0.7 seconds. */
  const run = async (options: Partial<RunTaskOptions> = {}): Promise<Outcome> =>
    runTask({
      client: turnpike,
      task: await read(),
      model: 'gpt-4o',
      lease: 0.7,
      approve: 'always',
      ...options,
      onEvent(event) {
        events.push(event)
        options.onEvent?.(event)
      },
    })
  return {
    ...at,
    state,
    project,
    task,
    read,
    change,
    events,
    run,
    /** The chats that the upstream was sent, oldest first. */
    chats: () => at.upstream.requests.map(({ body }) => (body as { messages: Record<string, unknown>[] }).messages),
    /** Events of a type. */
    told: <T extends AgentEvent['type']>(type: T) =>
      events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type),
  }
}

import { signal } from '@preact/signals'
import { runTask } from '@turnpike/agent'
import { turnpike, whenSignedOut } from '../turnpike.js'
import type { Answer, Run } from './agent-run-parts.js'
import { after, setCall } from './agent-run-parts.js'
import { agentTools, subjectOf } from './agent-tools.js'
import type { Project } from './project-form.js'
import type { Task } from './tasks.js'

/** The runs of this page, by the task. They go on where its drawer is closed. */
export const runs = signal<Readonly<Record<string, Run>>>({})
whenSignedOut(() => {
  for (const run of Object.values(runs.value)) run.stop()
  runs.value = {}
})

/**
 * Has an agent work on a task in this page, with the user's files for its tools. Each call of these waits for an answer.
 * @param project as it is shown: its name and description are told to the agent
 * @throws PlatformError where the task could not be claimed, Error where the project has another name or description now
 */
export async function startRun(task: Task, model: string, project: Project): Promise<void> {
  const now = await turnpike.get('/api/projects/{id}', { params: { id: task.project_id } })
  if (now.name !== project.name || now.description !== project.description)
    throw new Error('The project was changed meanwhile. Reload the page, and read its description.')
  const abort = new AbortController()
  const always = new Set<string>()
  const waiting = new Map<string, (answer: Answer) => void>()
  const answer = (id: string, given: Answer): void => waiting.get(id)?.(given)
  let run: Run = { model, parts: [], gone: 0, kept: 0, answer, stop: () => abort.abort() }
  const show = (next: Run): void => {
    run = next
    runs.value = { ...runs.value, [task.id]: run }
  }
  try {
    await runTask({
      client: turnpike,
      task,
      project,
      model,
      tools: agentTools,
      async approve(call, { signal }) {
        const { id, name } = call
        const answered = !always.has(name) && new Promise<Answer>((resolve) => waiting.set(id, resolve))
        const about = await subjectOf(call, signal)
        if (about !== undefined) show({ ...run, parts: setCall(run.parts, id, { about }) })
        const given = await answered
        if (given === false) return true
        waiting.delete(id)
        if (given === 'always') always.add(name)
        return given !== 'refuse'
      },
      signal: abort.signal,
      onEvent: (event) => show(after(run, event)),
    })
  } catch (error) {
    const { [task.id]: _, ...others } = runs.value
    runs.value = others
    throw error
  }
}

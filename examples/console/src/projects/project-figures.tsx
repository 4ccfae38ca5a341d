import { useEffect, useState } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import type { Project } from './project-form.js'
import { waitingOf } from './task-waiting.js'

/** Projects that are read at a time: the platform has no list of their figures. */
const AT_ONCE = 4
/** What the list says of a project. */
export interface Figures {
  /** How many tasks are neither done nor failed. */
  open: number
  /** How many wait for the user. */
  waiting: number
  /** US dollars. */
  cost: number
  /** When the project or a task of it was changed last, in ISO 8601. */
  changed: string
}

async function figuresOf({ id, role, updated_at }: Project, signal: AbortSignal): Promise<Figures> {
  const [{ items }, { cost_usd: cost }] = await Promise.all([
    turnpike.list('/api/tasks', { query: { projectId: id }, signal }),
    turnpike.get('/api/projects/{id}/spend', { params: { id }, signal }),
  ])
  return {
    open: items.filter(({ status }) => status !== 'done' && status !== 'failed').length,
    waiting: role === 'reader' ? 0 : waitingOf(items).length,
    cost,
    changed: items.reduce((last, task) => (task.updated_at > last ? task.updated_at : last), updated_at),
  }
}

/** The figures of projects by id, as they come. What cannot be read is left out. */
export function useFigures(projects: readonly Project[]): ReadonlyMap<string, Figures> {
  const [figures, setFigures] = useState<ReadonlyMap<string, Figures>>(new Map())
  useEffect(() => {
    const leave = new AbortController()
    const waiting = projects.filter(({ id }) => !figures.has(id))
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next && !leave.signal.aborted; next = waiting.shift()) {
        const { id } = next
        const read = await figuresOf(next, leave.signal).catch(() => undefined)
        if (read && !leave.signal.aborted) setFigures((all) => new Map([...all, [id, read]]))
      }
    }
    void Promise.all(Array.from({ length: AT_ONCE }, work))
    return () => leave.abort()
  }, [projects])
  return figures
}

import type { Given, Person } from './console.js'

/** Makes a project with a task in it. */
export async function project({ client }: Person, title: string, body: { requiresUserApproval?: boolean } = {}) {
  const { id } = await client.post('/api/projects', { body: { name: 'Website', teamType: 'content-creation' } })
  const task = await client.post('/api/tasks', { body: { projectId: id, title, assignedAgentId: 2, ...body } })
  return { id, task }
}

/** Changes a task as somebody else would, who is not at the page. */
export const change = (
  { person }: Given,
  id: string,
  body: { status?: 'running' | 'waiting_approval' | 'done'; output?: string; draft_output?: string },
) => person.client.patch('/api/tasks/{id}', { params: { id }, body })

/** A task as the platform has it. */
export const read = ({ person }: Given, id: string) => person.client.get('/api/tasks/{id}', { params: { id } })

/** The button by which a phone shows a column, and that cards are dropped on: `1 Done`. */
export const columnButton = ({ page }: Given, name: string) =>
  page.getByRole('group', { name: 'Column' }).getByRole('button', { name })

/** Waits for a task in a column of the board; on a phone, after that was chosen. */
export async function inColumn(given: Given, name: string, title: string): Promise<void> {
  // The button has the first word of `Waiting for approval`.
  if (given.look.size === 'phone') await columnButton(given, name.split(' ')[0]!).click()
  await column(given, name).getByRole('link', { name: title, exact: true }).waitFor()
}

/** A column of the board. */
export const column = ({ page }: Given, name: string) => page.getByRole('region', { name, exact: true })

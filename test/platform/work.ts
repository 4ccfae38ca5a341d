import type { Reply, SignedIn, World } from './world.js'

export interface Project {
  id: string
  name: string
  team_type: string
  color: string
  description: string | null
  user_id: string
  /** Of whom it is shared with. */
  role?: 'editor' | 'reader'
  created_at: string
  updated_at: string
}

/** Whom a project is shared with. */
export interface Member {
  id: string
  email: string
  role: 'editor' | 'reader'
  accepted: boolean
  added_at: string
}

export interface Task {
  id: string
  project_id: string
  title: string
  description: string | null
  status: string
  assigned_agent_id: number | null
  requires_user_approval: boolean
  output: string | null
  draft_output: string | null
  review_comments: string | null
  created_at: string
  updated_at: string
}

export interface Revision {
  id: string
  task_id: string
  output: string
  created_at: string
}

/** What is made has to be: the body of an answer 200. */
export function made<T>({ status, body }: Reply<T>): T {
  if (status !== 200) throw new Error(`The answer is ${status} ${JSON.stringify(body)}`)
  return body
}

/** Makes a project. */
export const newProject = async (world: World, as: SignedIn, fields: object = {}): Promise<Project> =>
  made(await world.ask<Project>('POST', '/api/projects', { as, body: { name: 'my project', ...fields } }))

/** Makes a task. */
export const newTask = async (world: World, as: SignedIn, projectId: string, fields: object = {}): Promise<Task> =>
  made(await world.ask<Task>('POST', '/api/tasks', { as, body: { projectId, title: 'my task', ...fields } }))

/** Somebody with a project and a task. */
export async function newWork(world: World): Promise<{ as: SignedIn; project: Project; task: Task }> {
  const as = await world.signedIn()
  const project = await newProject(world, as)
  return { as, project, task: await newTask(world, as, project.id) }
}

/** Shares a project with whoever has an e-mail. */
export const share = (
  world: World,
  as: SignedIn,
  projectId: string,
  email: string,
  role: Member['role'] = 'reader',
): Promise<Reply<Member>> =>
  world.ask<Member>('PUT', `/api/projects/${projectId}/members`, { as, body: { email, role } })

/** Accepts a project that is shared with somebody. */
export const accept = (world: World, as: SignedIn, projectId: string, memberId: string): Promise<Reply<Project>> =>
  world.ask<Project>('POST', `/api/projects/${projectId}/members/${memberId}/accept`, { as })

/** Makes a user who is a member of a project. */
export async function newMember(
  world: World,
  owner: SignedIn,
  projectId: string,
  role: Member['role'],
): Promise<SignedIn & { memberId: string }> {
  const as = await world.signedIn()
  const member = made(await share(world, owner, projectId, as.email, role))
  made(await accept(world, as, projectId, member.id))
  return { ...as, memberId: member.id }
}

/** Changes a task. */
export const patchTask = (world: World, as: SignedIn | undefined, id: string, body: unknown): Promise<Reply<Task>> =>
  world.ask<Task>('PATCH', `/api/tasks/${id}`, { as, body })

/** The whole of a list in pages of so many, by the links of the answers. */
export async function pagesOf<T>(world: World, as: SignedIn, path: string, limit: number): Promise<T[][]> {
  const pages: T[][] = []
  const [route, query] = path.split('?') as [string, string?]
  for (let next: string | undefined = `?${query ? `${query}&` : ''}limit=${limit}`; next !== undefined;) {
    const reply: Reply<T[]> = await world.ask<T[]>('GET', route + next, { as })
    pages.push(made(reply))
    const link = reply.headers.get('link')
    next = link === null ? undefined : /^<(\?.*)>; rel="next"$/.exec(link)![1]!
  }
  return pages
}

/** Ids that lead to nothing. */
export const lostIds = [
  '00000000-0000-7000-8000-00000000ffff',
  'no-uuid',
  '1',
  '%00',
  '__proto__',
  '..%2Fprojects',
  `${'0'.repeat(8)}-0000-7000-8000-00000000fffg`,
  'x'.repeat(3_000),
]

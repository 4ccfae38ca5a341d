import { send } from '@turnpike/dashboard/session'
import { linkTo } from '@turnpike/ui'
import type { User } from '../turnpike.js'
import { turnpike } from '../turnpike.js'

/** Something that is worth doing first. */
export interface Step {
  name: string
  /** What it is for. */
  why: string
  link: string
  isDone: boolean
}

const json = async <T>(path: string, signal: AbortSignal): Promise<T> =>
  (await send(path, { signal })).json() as Promise<T>

/** What an administrator does first. */
async function ofAdmin(signal: AbortSignal): Promise<Step[]> {
  const one = { query: { limit: 1 }, signal }
  const [health, keys, usage, users, projects] = await Promise.all([
    json<{ simulated: boolean }>('health', signal),
    turnpike.list('/api/keys', one),
    json<{ data: unknown[] }>('admin/usage?by=provider&limit=1', signal),
    turnpike.list('/api/users', { query: { limit: 2 }, signal }),
    turnpike.list('/api/projects', one),
  ])
  return [
    {
      name: 'Add a provider',
      why: 'Until there is one, answers are simulated.',
      link: linkTo('/admin/providers', { new: 1 }),
      isDone: !health.simulated,
    },
    {
      name: 'Create a key',
      why: 'Programs ask models with it.',
      link: linkTo('/keys', { new: 1 }),
      isDone: keys.items.length > 0,
    },
    {
      name: 'Send a request',
      why: 'See how it was routed, how long it took and what it cost.',
      link: linkTo('/admin'),
      isDone: usage.data.length > 0,
    },
    {
      name: 'Invite somebody',
      why: 'Each person has projects, files and a budget of their own.',
      link: linkTo('/admin/users', { new: 1 }),
      isDone: users.items.length > 1,
    },
    {
      name: 'Create a project',
      why: 'A team of agents works on its tasks.',
      link: linkTo('/projects', { new: 1 }),
      isDone: projects.items.length > 0,
    },
  ]
}

/** What users and developers do first. */
async function ofUser({ role }: User, signal: AbortSignal): Promise<Step[]> {
  const one = { limit: 1 }
  const [projects, files, keys] = await Promise.all([
    turnpike.list('/api/projects', { query: one, signal }),
    turnpike.list('/api/user-files', { query: one, signal }),
    role === 'developer' ? turnpike.list('/api/keys', { query: one, signal }) : undefined,
  ])
  const [project] = projects.items
  const tasks = project && (await turnpike.list('/api/tasks', { query: { projectId: project.id, ...one }, signal }))
  return [
    {
      name: 'Create a project',
      why: 'It has a team of agents, a board of tasks and a conversation.',
      link: linkTo('/projects', { new: 1 }),
      isDone: project !== undefined,
    },
    {
      name: 'Add a task',
      why: 'Say what is to be done. You approve the result.',
      link: project ? linkTo(`/projects/${project.id}`, { new: 1 }) : linkTo('/projects'),
      isDone: (tasks?.items.length ?? 0) > 0,
    },
    {
      name: 'Upload a file',
      why: 'Nobody else can read it until you share a link.',
      link: linkTo('/files'),
      isDone: files.items.length > 0,
    },
    ...(keys
      ? [
          {
            name: 'Create a key',
            why: 'Your programs ask models with it.',
            link: linkTo('/keys', { new: 1 }),
            isDone: keys.items.length > 0,
          },
        ]
      : []),
  ]
}

/** What is worth doing first by the user's role, with what is done by what the platform has. */
export const readSteps = (user: User, signal: AbortSignal): Promise<Step[]> =>
  user.role === 'admin' ? ofAdmin(signal) : ofUser(user, signal)

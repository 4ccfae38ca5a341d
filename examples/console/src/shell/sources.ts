import type { Page } from '@turnpike/client'
import type { Entry } from '@turnpike/ui'
import { icons, linkTo } from '@turnpike/ui'
import type { User } from '../turnpike.js'
import { turnpike } from '../turnpike.js'

/** Something that can be found. */
export interface Target {
  name: string
  /** What it is in, or who has it. */
  detail?: string
  icon: Entry['icon']
  /** Where it is, or what it does. */
  link?: string
  run?: () => void
}

/** A list that can be searched. */
export interface Source {
  name: string
  read: (page: { limit: number; after?: string }, signal: AbortSignal) => Promise<Page<Target>>
}

const mapped = <T>({ items, next }: Page<T>, of: (one: T) => Target): Page<Target> => ({ items: items.map(of), next })

/** How many of the newest projects have their tasks found: the API lists tasks by project. */
const PROJECTS_OF_TASKS = 8

/** The tasks of the newest projects, and of that which is shown. */
async function tasks(limit: number, signal: AbortSignal): Promise<Page<Target>> {
  const { items } = await turnpike.list('/api/projects', { query: { limit: PROJECTS_OF_TASKS }, signal })
  const pages = await Promise.all(
    items.map(async (project) => {
      const query = { projectId: project.id, limit }
      const { items } = await turnpike.list('/api/tasks', { query, signal })
      return items.map(({ id, title }) => ({
        name: title,
        detail: project.name,
        icon: icons.Tasks,
        link: linkTo(`/projects/${project.id}`, { task: id }),
      }))
    }),
  )
  return { items: pages.flat(), next: undefined }
}

/** The lists that the user may search. */
export const sourcesOf = ({ role }: User): readonly Source[] => [
  {
    name: 'Projects',
    read: async (query, signal) =>
      mapped(await turnpike.list('/api/projects', { query, signal }), ({ id, name }) => ({
        name,
        icon: icons.Projects,
        link: linkTo(`/projects/${id}`),
      })),
  },
  { name: 'Tasks', read: ({ limit }, signal) => tasks(limit, signal) },
  {
    name: 'Files',
    read: async (query, signal) =>
      mapped(await turnpike.list('/api/user-files', { query, signal }), ({ id, display_name, mime_type }) => ({
        name: display_name,
        detail: mime_type,
        icon: icons.Files,
        link: linkTo('/files', { id }),
      })),
  },
  ...(role === 'user'
    ? []
    : [
        {
          name: 'Keys',
          read: async (query, signal) =>
            mapped(await turnpike.list('/api/keys', { query, signal }), ({ id, name }) => ({
              name,
              icon: icons.Keys,
              link: linkTo('/keys', { id }),
            })),
        } satisfies Source,
      ]),
  ...(role === 'admin'
    ? [
        {
          name: 'Users',
          read: async (query, signal) =>
            mapped(await turnpike.list('/api/users', { query, signal }), ({ id, email, first_name, last_name }) => ({
              name: email || id,
              detail: `${first_name} ${last_name}`.trim(),
              icon: icons.Users,
              link: linkTo('/admin/users', { email }),
            })),
        } satisfies Source,
      ]
    : []),
]

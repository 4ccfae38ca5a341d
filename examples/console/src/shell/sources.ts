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

/** What a page of a list is asked for by. */
export interface PageQuery {
  limit: number
  after?: string
}

/** A list that can be searched, newest first. */
export interface Source {
  name: string
  read: (page: PageQuery, signal: AbortSignal) => Promise<Page<Target>>
}

const mapped = <T>({ items, next }: Page<T>, of: (one: T) => Target): Page<Target> => ({ items: items.map(of), next })

/** How many of the newest projects are named beside their tasks. */
const NAMED = 100

async function tasks(query: PageQuery, signal: AbortSignal): Promise<Page<Target>> {
  const [projects, page] = await Promise.all([
    turnpike.list('/api/projects', { query: { limit: NAMED }, signal }),
    turnpike.list('/api/tasks', { query, signal }),
  ])
  const names = new Map(projects.items.map(({ id, name }) => [id, name]))
  return mapped(page, ({ id, title, project_id: project }) => ({
    name: title,
    detail: names.get(project) ?? '',
    icon: icons.Tasks,
    link: linkTo(`/projects/${project}`, { task: id }),
  }))
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
  { name: 'Tasks', read: tasks },
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

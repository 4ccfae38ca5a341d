import { goTo, Icon, icons, linkTo, Menu, pageTitle, route } from '@turnpike/ui'
import { useState } from 'preact/hooks'
import type { Project } from '../projects/project-form.js'
import { turnpike } from '../turnpike.js'

/** How many projects it lists; all are on their page. */
const MOST = 12

/** Names the project that is shown, and leads to the others. */
export function ProjectSwitcher() {
  const [projects, setProjects] = useState<readonly Project[]>([])
  const shown = (/^\/projects\/./.test(route.value.path) && pageTitle.value) || 'All projects'
  const read = (): void => {
    turnpike.list('/api/projects', { query: { limit: MOST } }).then(
      ({ items }) => setProjects(items),
      // The page of all projects, which is the first choice, says why.
      () => undefined,
    )
  }
  return (
    <Menu
      class="side-button"
      name={`Switch project: ${shown}`}
      label={
        <>
          <Icon icon={icons.Projects} />
          <span>{shown}</span>
        </>
      }
      onOpen={read}
      options={[
        ['/projects', 'All projects', linkTo('/projects')],
        ...projects.map(
          ({ id, name }) => [id, <span class="one-line">{name}</span>, linkTo(`/projects/${id}`)] as const,
        ),
        [
          'new',
          <>
            <Icon icon={icons.New} />
            New project
          </>,
        ],
      ]}
      onChoose={(option) => option === 'new' && goTo('/projects', { new: 1 })}
    />
  )
}

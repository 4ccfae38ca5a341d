import { PlatformError } from '@turnpike/client'
import { Empty, ErrorNotice, linkTo, Loaded, Page, route, setQuery, useData, useTitle } from '@turnpike/ui'
import { Markdown, useReader } from '@turnpike/ui/markdown'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useOpened } from '../shell/recent.js'
import { turnpike } from '../turnpike.js'
import { Board } from './board.js'
import { Conversation } from './conversation.js'
import { Membership } from './membership.js'
import { Results } from './results.js'
import { ShownProject } from './role.js'
import { Settings } from './settings.js'
import { Share } from './share.js'
import { Spend } from './spend.js'
import { cardId } from './task-card.js'
import { TaskDrawer } from './task-drawer.js'
import type { Changed, Task } from './tasks.js'
import { Team } from './team.js'

/** The parts of a project's page, by the last part of its path. */
const parts = [
  ['', 'Board'],
  ['conversation', 'Conversation'],
  ['results', 'Results'],
  ['team', 'Team'],
  ['settings', 'Settings'],
] as const

const Tabs = ({ id, part }: { id: string; part: string }) => (
  <nav class="tabs" aria-label="Project">
    {parts.map(([path, name]) => (
      <a
        key={path}
        href={linkTo(path === '' ? `/projects/${id}` : `/projects/${id}/${path}`)}
        aria-current={path === part ? 'page' : undefined}
      >
        {name}
      </a>
    ))}
  </nav>
)

function ProjectSpend({ id }: { id: string }) {
  const data = useData((signal) => turnpike.get('/api/projects/{id}/spend', { params: { id }, signal }), [id])
  return <Spend name="Project" data={data} />
}

/** Whether something is not there, or somebody else's: trying again cannot help. */
const isGone = (error: unknown): boolean => error instanceof PlatformError && error.status === 404

/** A project. @param part of its page, `''` for the board */
export function ProjectPage({ id, part }: { id: string; part: string }) {
  const params = { id }
  // Loaded beside the data, so that text is there at once.
  useReader()
  const project = useData((signal) => turnpike.get('/api/projects/{id}', { params, signal }), [id])
  const team = useData((signal) => turnpike.get('/api/projects/{id}/team', { params, signal }), [id])
  const [changed, setChanged] = useState<Changed>({})
  const [isSharing, setSharing] = useState(false)
  const taskId = route.value.query.get('task')
  const opened = useRef(taskId)
  useEffect(() => {
    // The drawer gives the focus back, unless the card of the task was moved meanwhile.
    if (!taskId && opened.current && document.activeElement === document.body)
      document.getElementById(cardId(opened.current))?.focus()
    opened.current = taskId
  }, [taskId])
  useTitle(part === '' ? undefined : parts.find(([path]) => path === part)?.[1], 1)
  useOpened('Project', project.value?.name, linkTo(`/projects/${id}`))
  const agents = team.value?.agents ?? []
  const onChange = (task: Task): void => setChanged((all) => ({ ...all, [task.id]: task }))
  const onDelete = (id: string): void => setChanged((all) => ({ ...all, [id]: null }))
  // One notice says why, such as that the project is somebody else's.
  if (!project.value && project.error !== undefined)
    return (
      <Page title="Project">
        {isGone(project.error) ? (
          <section class="panel">
            <Empty title="There is no such project">
              <p>
                <a href={linkTo('/projects')}>All projects</a>
              </p>
            </Empty>
          </section>
        ) : (
          <ErrorNotice error={project.error} again={project.again} />
        )}
      </Page>
    )
  return (
    <Page
      title={project.value?.name ?? 'Project'}
      class={part === '' ? 'board-page' : ''}
      trail={[
        ['Projects', linkTo('/projects')],
        ...(project.value && part !== '' ? [[project.value.name, linkTo(`/projects/${id}`)] as const] : []),
      ]}
      // The conversation tells its own cost. Nothing but the project tells that there is none.
      actions={
        project.value && (
          <>
            {part !== 'conversation' && <ProjectSpend id={id} />}
            {project.value.role ? (
              <span class="badge">{project.value.role}</span>
            ) : (
              <button type="button" onClick={() => setSharing(true)}>
                Share
              </button>
            )}
          </>
        )
      }
    >
      <ShownProject.Provider value={project.value}>
        <Tabs id={id} part={part} />
        <Loaded data={project}>
          {(value) =>
            part === '' ? (
              <>
                {value.description !== null && (
                  <details>
                    <summary>About the project</summary>
                    <Markdown text={value.description} />
                  </details>
                )}
                <Board projectId={id} agents={agents} changed={changed} onChange={onChange} />
              </>
            ) : part === 'conversation' ? (
              <Conversation projectId={id} agents={agents} />
            ) : part === 'results' ? (
              <Results projectId={id} changed={changed} />
            ) : part === 'team' ? (
              <Team data={team} />
            ) : part === 'settings' && value.role ? (
              <Membership project={value} />
            ) : part === 'settings' ? (
              <Settings
                project={value}
                onChange={() => {
                  project.again()
                  team.again()
                }}
              />
            ) : (
              <section class="panel">
                <Empty title="There is no such part of a project" />
              </section>
            )
          }
        </Loaded>
        {taskId && (
          <TaskDrawer
            key={taskId}
            id={taskId}
            agents={agents}
            onChange={onChange}
            onDelete={() => onDelete(taskId)}
            onClose={() => setQuery({ task: undefined })}
          />
        )}
        {isSharing && project.value && <Share project={project.value} onClose={() => setSharing(false)} />}
      </ShownProject.Provider>
    </Page>
  )
}

import './projects.css'
import type { Column } from '@turnpike/ui'
import { Ago, count, Dialog, Empty, goTo, linkTo, NONE, Page, route, usd, useNew } from '@turnpike/ui'
import { useBlocks, useReader } from '@turnpike/ui/markdown'
import { turnpike } from '../turnpike.js'
import { PagedTable, usePages } from '../use-pages.js'
import type { Figures } from './project-figures.js'
import { useFigures } from './project-figures.js'
import type { Project } from './project-form.js'
import { ProjectForm, teamName } from './project-form.js'
import { ProjectPage } from './project.js'
import { SharedWithYou } from './shared-with-you.js'
import { WaitingForYou } from './waiting-for-you.js'

/** The colour of a project, beside its name. */
const Dot = ({ color }: { color: string }) => <span class="dot" style={{ background: color }} aria-hidden="true" />

/** Characters of a description that the list shows. */
const GLIMPSE = 300

/** The beginning of a description in one line, without its marks. */
function Description({ text }: { text: string }) {
  const reader = useReader()
  const read = useBlocks(text.slice(0, GLIMPSE))
  const words = read?.blocks.flatMap(reader!.leavesOf).flatMap(({ runs }) => [...runs.map(({ text }) => text), ' '])
  return <div class="small muted one-line">{words ?? ' '}</div>
}

/** @param figures of projects by id; a dash until they are there */
const columnsOf = (figures: ReadonlyMap<string, Figures>): Column<Project>[] => [
  {
    name: 'Name',
    cell: ({ id, name, color, description, team_type, role }) => (
      <>
        <div class="named">
          <Dot color={color} />
          <a href={linkTo(`/projects/${id}`)}>{name}</a>
          {role && <span class="badge">{role}</span>}
        </div>
        {description === null ? (
          <div class="small muted">{teamName(team_type)}</div>
        ) : (
          <Description text={description} />
        )}
      </>
    ),
  },
  {
    name: 'Waiting',
    number: true,
    cell: ({ id }) => {
      const waiting = figures.get(id)?.waiting
      return waiting ? <span class="badge amber">{count(waiting)}</span> : (waiting ?? NONE)
    },
  },
  { name: 'Open', number: true, cell: ({ id }) => figures.get(id)?.open ?? NONE },
  {
    name: 'Cost',
    number: true,
    cell: ({ id }) => {
      const cost = figures.get(id)?.cost
      return cost === undefined ? NONE : usd(cost)
    },
  },
  { name: 'Changed', number: true, cell: ({ id, updated_at }) => <Ago at={figures.get(id)?.changed ?? updated_at} /> },
]

const NewProject = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="New project" onClose={onClose}>
    <ProjectForm
      label="Create project"
      save={async (body) => {
        const { id } = await turnpike.post('/api/projects', { body })
        goTo(`/projects/${id}`)
      }}
    />
  </Dialog>
)

const none: readonly Project[] = []

function ProjectList() {
  const pages = usePages((page, signal) => turnpike.list('/api/projects', { query: page, signal }))
  const [isMaking, setMaking] = useNew('New project')
  const projects = pages.value?.items ?? none
  const figures = useFigures(projects)
  return (
    <Page
      title="Projects"
      actions={
        <button type="button" class="primary" onClick={() => setMaking(true)}>
          New project
        </button>
      }
    >
      <SharedWithYou onAccept={pages.again} />
      <WaitingForYou projects={pages} />
      <section class="panel project-list" aria-label="Projects">
        <PagedTable
          caption="Projects"
          columns={columnsOf(figures)}
          pages={pages}
          name="project"
          empty={
            <Empty title="No projects yet" shape="rows">
              <p>A project has a team of agents, a board of tasks for them, and a conversation.</p>
              <button type="button" class="primary" onClick={() => setMaking(true)}>
                Create the first project
              </button>
            </Empty>
          }
        />
      </section>
      {isMaking && <NewProject onClose={() => setMaking(false)} />}
    </Page>
  )
}

/** The projects of the user; `/projects/{id}` is one of them. */
export function Projects() {
  const [, , id, part] = route.value.path.split('/')
  return id ? <ProjectPage key={id} id={id} part={part ?? ''} /> : <ProjectList />
}

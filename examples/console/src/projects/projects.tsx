import './projects.css'
import type { Column } from '@turnpike/ui'
import { Ago, Dialog, Empty, goTo, linkTo, Page, route, useNew } from '@turnpike/ui'
import { useBlocks, useReader } from '@turnpike/ui/markdown'
import { turnpike } from '../turnpike.js'
import { PagedTable, usePages } from '../use-pages.js'
import type { Project } from './project-form.js'
import { ProjectForm, teamName } from './project-form.js'
import { ProjectPage } from './project.js'

/** The colour of a project, beside its name. */
const Dot = ({ color }: { color: string }) => <span class="dot" style={{ background: color }} aria-hidden="true" />

/** Characters of a description that the list shows. */
const GLIMPSE = 300

/** The beginning of a description in one line, without its marks. */
function Description({ text }: { text: string }) {
  const reader = useReader()
  const read = useBlocks(text.slice(0, GLIMPSE))
  const words = read?.blocks.flatMap(reader!.leavesOf).flatMap(({ runs }) => [...runs.map(({ text }) => text), ' '])
  return <div class="small muted one-line">{words ?? text}</div>
}

const columns: Column<Project>[] = [
  {
    name: 'Name',
    cell: ({ id, name, color, description }) => (
      <>
        <div class="named">
          <Dot color={color} />
          <a href={linkTo(`/projects/${id}`)}>{name}</a>
        </div>
        {description !== null && <Description text={description} />}
      </>
    ),
  },
  { name: 'Team', cell: ({ team_type }) => teamName(team_type) },
  { name: 'Changed', number: true, cell: ({ updated_at }) => <Ago at={updated_at} /> },
]

const NewProject = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="New project" onClose={onClose}>
    <ProjectForm
      label="Make project"
      save={async (body) => {
        const { id } = await turnpike.post('/api/projects', { body })
        goTo(`/projects/${id}`)
      }}
    />
  </Dialog>
)

function ProjectList() {
  const pages = usePages((page, signal) => turnpike.list('/api/projects', { query: page, signal }))
  const [isMaking, setMaking] = useNew('New project')
  return (
    <Page
      title="Projects"
      actions={
        <button type="button" class="primary" onClick={() => setMaking(true)}>
          New project
        </button>
      }
    >
      <section class="panel" aria-label="Projects">
        <PagedTable
          caption="Projects"
          columns={columns}
          pages={pages}
          name="project"
          empty={
            <Empty title="No projects yet" shape="rows">
              <p>Make one with New project. It has a team of agents, a board of tasks, and a conversation.</p>
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

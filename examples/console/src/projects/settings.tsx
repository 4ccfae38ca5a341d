import { ConfirmButton, ErrorNotice, Facts, goTo, Loaded, Panel, plural, time, useAction, useData } from '@turnpike/ui'
import { turnpike } from '../turnpike.js'
import { PAGE } from '../use-pages.js'
import type { Project } from './project-form.js'
import { ProjectForm } from './project-form.js'

const counted = (of: { items: unknown[]; next: string | undefined }, name: string): string =>
  of.next === undefined ? plural(of.items.length, name) : `more than ${PAGE} ${name}s`

/** What goes with a project that is deleted. */
function DeletionSummary({ project }: { project: Project }) {
  const data = useData(
    (signal) =>
      Promise.all([
        turnpike.list('/api/tasks', { query: { projectId: project.id, limit: PAGE }, signal }),
        turnpike.list('/api/projects/{id}/conversation', {
          params: { id: project.id },
          query: { limit: PAGE },
          signal,
        }),
      ]),
    [project.id],
  )
  return (
    <>
      <p class="break">“{project.name}” will be gone, and with it for good:</p>
      <Loaded data={data}>
        {([tasks, messages]) => (
          <ul class="bullets">
            <li>{counted(tasks, 'task')}, with their drafts, revisions and results</li>
            <li>{counted(messages, 'message')} of the conversation</li>
          </ul>
        )}
      </Loaded>
      <p class="muted">Your files stay, and so does what it cost in your usage. Nobody can take this back.</p>
    </>
  )
}

/** Changes or deletes a project. */
export function Settings({ project, onChange }: { project: Project; onChange: () => void }) {
  const params = { id: project.id }
  const remove = useAction(async () => {
    await turnpike.delete('/api/projects/{id}', { params })
    goTo('/projects', {}, true)
  })
  return (
    <div class="columns">
      <Panel title="Project">
        <div class="body">
          <ProjectForm
            project={project}
            label="Save"
            done="Saved."
            save={async (body) => {
              await turnpike.patch('/api/projects/{id}', { params, body })
              onChange()
            }}
          />
        </div>
      </Panel>
      <Panel title="About">
        <div class="body stack">
          <Facts
            facts={[
              ['Created', time(project.created_at)],
              ['Changed', time(project.updated_at)],
              ['Id', <span class="mono">{project.id}</span>],
            ]}
          />
          <ErrorNotice error={remove.error} />
          <div class="row">
            <ConfirmButton action={remove} label="Delete project" busy="Deleting…" title="Delete the project?">
              <DeletionSummary project={project} />
            </ConfirmButton>
          </div>
        </div>
      </Panel>
    </div>
  )
}

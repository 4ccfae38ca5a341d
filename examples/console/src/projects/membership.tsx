import { ConfirmButton, ErrorNotice, Facts, goTo, Panel, time, useAction } from '@turnpike/ui'
import { turnpike } from '../turnpike.js'
import type { Project } from './project-form.js'

/** What a member has in place of the settings of a project: the own role, and to leave. */
export function Membership({ project: { id, name, role, created_at, updated_at } }: { project: Project }) {
  const params = { id }
  const leave = useAction(async () => {
    const [own] = await turnpike.get('/api/projects/{id}/members', { params })
    if (own) await turnpike.delete('/api/projects/{id}/members/{memberId}', { params: { ...params, memberId: own.id } })
    goTo('/projects', {}, true)
  })
  return (
    <Panel title="About">
      <div class="body stack">
        <p>
          This project is shared with you as {role}:{' '}
          {role === 'reader' ? 'you see all of it.' : 'you change what is in it, and pay for what you ask models for.'}
        </p>
        <Facts
          facts={[
            ['Created', time(created_at)],
            ['Changed', time(updated_at)],
            ['Id', <span class="mono">{id}</span>],
          ]}
        />
        <ErrorNotice error={leave.error} />
        <div class="row">
          <ConfirmButton action={leave} label="Leave project" busy="Leaving…" title="Leave the project?">
            <p class="break">“{name}” is not among your projects any more. Its owner can share it with you again.</p>
          </ConfirmButton>
        </div>
      </div>
    </Panel>
  )
}

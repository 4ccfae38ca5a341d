import type { Schemas } from '@turnpike/client'
import { ActionButton, Dialog, Empty, ErrorNotice, Field, Form, Loaded, textOf, useAction, useData } from '@turnpike/ui'
import { useRef } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import type { Project } from './project-form.js'

export type Member = Schemas['Member']

/** The roles of members, and what they may. */
const roles: readonly (readonly [Member['role'], string])[] = [
  ['reader', 'reader: sees all of it'],
  ['editor', 'editor: also changes what is in it'],
]

/** A member, whose role is changed by choosing another. */
function MemberRow({ projectId, member, onChange }: { projectId: string; member: Member; onChange: () => void }) {
  const { id: memberId, email, role, accepted } = member
  const params = { id: projectId }
  const change = useAction(async (next: Member['role']) => {
    await turnpike.put('/api/projects/{id}/members', { params, body: { email, role: next } })
    onChange()
  })
  const remove = useAction(async () => {
    await turnpike.delete('/api/projects/{id}/members/{memberId}', { params: { ...params, memberId } })
    onChange()
  })
  return (
    <li>
      <div class="spread">
        <span class="break">
          {email}
          {!accepted && <span class="small muted"> has not accepted yet</span>}
        </span>
        <span class="row">
          <select
            aria-label={`Role of ${email}`}
            value={role}
            disabled={change.busy}
            onChange={(event) => change.run(event.currentTarget.value as Member['role'])}
          >
            {roles.map(([name]) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
          <ActionButton action={remove} class="quiet" onClick={remove.run}>
            {remove.busy ? 'Removing…' : 'Remove'}
            <span class="visually-hidden"> {email}</span>
          </ActionButton>
        </span>
      </div>
      <ErrorNotice error={change.error ?? remove.error} />
    </li>
  )
}

/** Whom the owner shares a project with: adds members, changes their roles and removes them. */
export function Share({ project: { id }, onClose }: { project: Project; onClose: () => void }) {
  const params = { id }
  const members = useData((signal) => turnpike.get('/api/projects/{id}/members', { params, signal }), [id])
  const form = useRef<HTMLDivElement>(null)
  const add = useAction(async (fields: FormData) => {
    const body = { email: textOf(fields, 'email'), role: textOf(fields, 'role') as Member['role'] }
    await turnpike.put('/api/projects/{id}/members', { params, body })
    form.current!.querySelector('form')!.reset()
    form.current!.querySelector('input')!.focus()
    members.again()
  })
  return (
    <Dialog title="Share the project" onClose={onClose}>
      <div ref={form}>
        <Form action={add} label="Share">
          <p class="muted">
            Whoever has the e-mail finds the project above their own, and accepts it there. No message is sent.
          </p>
          <Field label="E-mail">
            {(ids) => (
              <input {...ids} name="email" type="email" maxLength={254} required autofocus autocomplete="off" />
            )}
          </Field>
          <Field label="Role">
            {(ids) => (
              <select {...ids} name="role">
                {roles.map(([name, text]) => (
                  <option key={name} value={name}>
                    {text}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </Form>
      </div>
      <h3>Members</h3>
      <Loaded data={members}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="Only you see this project" />
          ) : (
            <ul class="members" aria-label="Members">
              {all.map((member) => (
                <MemberRow key={member.id} projectId={id} member={member} onChange={members.again} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <p class="small muted">
        What members ask models for, they pay themselves. Files that are in messages are read by all members.
      </p>
    </Dialog>
  )
}

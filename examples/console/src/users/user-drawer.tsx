import type { OnChange, RowDrawerProps } from '@turnpike/ui'
import {
  ActionButton,
  ConfirmButton,
  ErrorNotice,
  Facts,
  Field,
  Form,
  linkTo,
  RowDrawer,
  textOf,
  time,
  useAction,
  useData,
} from '@turnpike/ui'
import { UserPassword } from '../password.js'
import { UserSignIns } from '../sign-ins.js'
import type { User } from '../turnpike.js'
import { account, turnpike } from '../turnpike.js'
import { Balance } from './balance.js'
import { UserFields, userOf } from './user-fields.js'
import { UserLimits } from './user-limits.js'

const UserFacts = ({ user }: { user: User }) => (
  <Facts
    facts={[
      ['Signs in by', user.provider],
      ['Since', time(user.created_at)],
      ['Deleted', user.deleted_at !== null && time(user.deleted_at)],
      ['Usage', <a href={linkTo('/admin/usage', { by: 'user', id: user.id })}>by hour</a>],
      ['Sign-ins and changes', <a href={linkTo('/admin/audit', { who: user.id, days: 30 })}>in the audit log</a>],
      ['Id', <span class="mono">{user.id}</span>],
    ]}
  />
)

/** A user who is not deleted. */
function Details({ user, onChange }: { user: User; onChange: OnChange }) {
  const params = { id: user.id }
  const save = useAction(async (fields: FormData) => {
    const body = { email: textOf(fields, 'email'), ...userOf(fields, user) }
    const saved = await turnpike.patch('/api/users/{id}', { params, body })
    if (saved.id === account.value?.id) account.value = saved
    onChange()
  })
  const remove = useAction(async () => {
    await turnpike.delete('/api/users/{id}', { params })
    onChange(`${user.email} is deleted.`)
  })
  return (
    <>
      <Form action={save} label="Save" done="Saved.">
        <Field label="E-mail">
          {(ids) => (
            <input {...ids} name="email" type="email" maxLength={254} defaultValue={user.email} autocomplete="off" />
          )}
        </Field>
        <UserFields user={user} />
      </Form>
      <UserLimits user={user} onChange={onChange} />
      <Balance userId={user.id} isDeleted={false} />
      <UserPassword user={user} />
      <UserSignIns user={user} />
      <UserFacts user={user} />
      <ErrorNotice error={remove.error} />
      <div class="row end">
        <ConfirmButton action={remove} label="Delete user" busy="Deleting…" title="Delete the user?">
          <p class="break">
            {user.email} is signed out everywhere, and the keys are revoked for good. The account can be restored; its
            files are removed after 30 days.
          </p>
        </ConfirmButton>
      </div>
    </>
  )
}

/** A user who can be restored, or erased. */
function Deleted({ user, onChange }: { user: User; onChange: OnChange }) {
  const params = { id: user.id }
  const restore = useAction(async () => {
    await turnpike.post('/api/users/{id}/restore', { params })
    onChange(`${user.email} is restored, without the keys that there were.`)
  })
  const erase = useAction(async () => {
    await turnpike.delete('/api/users/{id}', { params, query: { permanent: 'true' } })
    onChange('The user is erased.')
  })
  return (
    <>
      <UserFacts user={user} />
      <Balance userId={user.id} isDeleted />
      <ErrorNotice error={restore.error ?? erase.error} />
      <div class="row end">
        <ConfirmButton action={erase} label="Erase" busy="Erasing…" title="Erase the user for good?">
          <p class="break">
            The account of <strong>{user.email}</strong> is removed, with the password, sign-ins, keys and their end
            users, tokens, sessions, projects with tasks, results and conversations, and all files. Nobody can restore
            it.
          </p>
          <p>
            What was used stays in the sums, without a name, as do entries of the audit log. The e-mail can be used
            again.
          </p>
        </ConfirmButton>
        <ActionButton action={restore} onClick={restore.run} class="primary">
          {restore.busy ? 'Restoring…' : 'Restore'}
        </ActionButton>
      </div>
    </>
  )
}

/** A user with what administrators can do. */
export function UserDrawer({ id, name, ...drawer }: RowDrawerProps) {
  const data = useData((signal) => turnpike.get('/api/users/{id}', { params: { id }, signal }), [id])
  return (
    <RowDrawer title={name} data={data} {...drawer}>
      {(user, onChange) =>
        user.deleted_at === null ? (
          <Details user={user} onChange={onChange} />
        ) : (
          <Deleted user={user} onChange={onChange} />
        )
      }
    </RowDrawer>
  )
}

import {
  ActionButton,
  bytes,
  ErrorNotice,
  Facts,
  Loaded,
  Notice,
  Page,
  Panel,
  time,
  useAction,
  useData,
} from '@turnpike/ui'
import { ConfirmButton } from './confirm-button.js'
import { account, fullName, turnpike } from './turnpike.js'
import { BYTES_PER_GB } from './units.js'

/** What the plan and the extras of the balance allow. */
function Limits() {
  const data = useData((signal) => turnpike.get('/api/account/limits', { signal }), [])
  return (
    <Panel title="Limits of your plan">
      <Loaded data={data}>
        {({ projects, agents, storage_gb, storage_bytes_used }) => (
          <div class="body">
            <Facts
              facts={[
                ['Projects', projects ?? 'any number'],
                ['Agents', agents ?? 'any number'],
                ['Files', `${bytes(storage_gb * BYTES_PER_GB)}, of which ${bytes(storage_bytes_used)} are used`],
              ]}
            />
          </div>
        )}
      </Loaded>
    </Panel>
  )
}

/** Users and developers may change into each other. */
function Role() {
  const { role } = account.value!
  const change = useAction(async () => {
    const next = role === 'user' ? 'developer' : 'user'
    account.value = await turnpike.patch('/api/account/role', { body: { role: next } })
  })
  if (role === 'admin') return null
  return (
    <Panel title="Role">
      <div class="body stack">
        <p>
          {role === 'user'
            ? 'As a developer, you can make keys for programs that ask models.'
            : 'You are a developer. As a user you have no keys; those that you have made keep working.'}
        </p>
        <ErrorNotice error={change.error} />
        <div>
          <ActionButton action={change} onClick={change.run}>
            {change.busy ? 'Changing…' : role === 'user' ? 'Become a developer' : 'Become a user'}
          </ActionButton>
        </div>
      </div>
    </Panel>
  )
}

/** Signs out elsewhere, and deletes the account. */
function SignOutAndDelete() {
  const others = useAction(() => turnpike.signOut({ scope: 'others' }))
  const remove = useAction(async () => {
    await turnpike.delete('/api/account')
    account.value = null
  })
  const error = others.error ?? remove.error
  return (
    <Panel title="Sign-ins and account">
      <div class="body stack">
        <ErrorNotice error={error} />
        {others.done && <Notice>You are signed in here only.</Notice>}
        <div class="spread">
          <p>Sign out everywhere but here, if you left a browser open somewhere.</p>
          <ActionButton action={others} onClick={others.run}>
            {others.busy ? 'Signing out…' : 'Sign out elsewhere'}
          </ActionButton>
        </div>
        <div class="spread">
          <p>Delete your account. Its keys are revoked; an administrator can restore the account.</p>
          <ConfirmButton action={remove} label="Delete account" busy="Deleting…" title="Delete your account?">
            <p>
              You are signed out everywhere, your keys are revoked, and your files are removed after 30 days. Until then
              an administrator can restore the account, but not the keys.
            </p>
          </ConfirmButton>
        </div>
      </div>
    </Panel>
  )
}

/** Who is signed in, and what they may have. */
export function Account() {
  const { email, role, provider, created_at, id } = account.value!
  return (
    <Page title="Account">
      <div class="columns">
        <Panel title="You">
          <div class="body">
            <Facts
              facts={[
                ['E-mail', email],
                ['Name', fullName(account.value!)],
                ['Role', role],
                ['Signs in by', provider],
                ['Since', time(created_at)],
                ['Id', <span class="mono">{id}</span>],
              ]}
            />
          </div>
        </Panel>
        <Limits />
      </div>
      <Role />
      <SignOutAndDelete />
    </Page>
  )
}

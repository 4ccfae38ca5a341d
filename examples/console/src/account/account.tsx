import type { Schemas } from '@turnpike/client'
import type { Data } from '@turnpike/ui'
import {
  AgreeButton,
  bytes,
  ConfirmButton,
  count,
  ErrorNotice,
  Facts,
  Loaded,
  Page,
  Panel,
  time,
  useAction,
  useData,
} from '@turnpike/ui'
import { OwnPassword } from '../password.js'
import { OwnSignIns } from '../sign-ins.js'
import type { User } from '../turnpike.js'
import { account, fullName, turnpike } from '../turnpike.js'
import { BYTES_PER_GB } from '../units.js'
import { Tokens } from './tokens.js'

type AccountLimits = Schemas['AccountLimits']

const most = (limit: number | null): string => (limit === null ? 'any number' : count(limit))

/** What the plan, the role and the extras of the balance allow. */
const Limits = ({ data }: { data: Data<AccountLimits> }) => (
  <Panel title="Limits of your plan">
    <Loaded data={data}>
      {({ projects, agents, tasks, sessions, keys, key_rate_limit, storage_gb, storage_bytes_used }) => (
        <div class="body">
          <Facts
            facts={[
              ['Projects', most(projects)],
              ['Agents', most(agents)],
              ['Tasks', most(tasks)],
              ['Sessions', most(sessions)],
              ['Keys', keys > 0 && `${count(keys)}, with ${count(key_rate_limit)} requests per minute each`],
              ['Files', `${bytes(storage_gb * BYTES_PER_GB)}, of which ${bytes(storage_bytes_used)} are used`],
            ]}
          />
        </div>
      )}
    </Loaded>
  </Panel>
)

/** Users and developers may change into each other, as far as an administrator or the operator lets them. */
function Role({ highest, onChange }: { highest: User['role']; onChange: () => void }) {
  const { role } = account.value!
  const change = useAction(async () => {
    const next = role === 'user' ? 'developer' : 'user'
    account.value = await turnpike.patch('/api/account/role', { body: { role: next } })
    onChange()
  })
  const mayChange = role === 'developer' || highest !== 'user'
  return (
    <div class="body stack">
      <p>
        {role === 'developer'
          ? 'You are a developer. As a user you have no keys: those that you have made are refused until you are a developer again.'
          : mayChange
            ? 'As a developer, you can make keys for programs that ask models. Those that you had made work again.'
            : 'You are a user. An administrator can make you a developer, who makes keys for programs that ask models.'}
      </p>
      <ErrorNotice error={change.error} />
      {mayChange && (
        <div>
          <AgreeButton action={change} onClick={change.run}>
            {change.busy ? 'Changing…' : role === 'user' ? 'Become a developer' : 'Become a user'}
          </AgreeButton>
        </div>
      )}
    </div>
  )
}

/** Deletes the account. */
function Delete() {
  const remove = useAction(async () => {
    await turnpike.delete('/api/account')
    account.value = null
  })
  return (
    <Panel title="Delete">
      <div class="body stack">
        <ErrorNotice error={remove.error} />
        <div class="spread">
          <p>Delete your account. Its keys and tokens are revoked; an administrator can restore the account.</p>
          <ConfirmButton action={remove} label="Delete account" busy="Deleting…" title="Delete your account?">
            <p>
              You are signed out everywhere, your keys and tokens are revoked, and your files are removed after 30 days.
              Until then an administrator can restore the account, but not its keys and tokens.
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
  const limits = useData((signal) => turnpike.get('/api/account/limits', { signal }), [])
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
        <Limits data={limits} />
      </div>
      {role !== 'admin' && (
        <Panel title="Role">
          <Loaded data={limits}>{({ role: highest }) => <Role highest={highest} onChange={limits.again} />}</Loaded>
        </Panel>
      )}
      <Tokens />
      {account.value!.provider === 'password' && <OwnPassword />}
      <OwnSignIns />
      <Delete />
    </Page>
  )
}

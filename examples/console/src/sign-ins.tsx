import type { Schemas } from '@turnpike/client'
import type { Column, Data } from '@turnpike/ui'
import {
  ActionButton,
  agentName,
  Ago,
  ConfirmButton,
  Empty,
  ErrorNotice,
  Folded,
  Loaded,
  NONE,
  Notice,
  Panel,
  Status,
  Table,
  useAction,
  useData,
} from '@turnpike/ui'
import type { User } from './turnpike.js'
import { turnpike } from './turnpike.js'

type SignIn = Schemas['UserSignIn']
type End = (signIn: SignIn) => Promise<unknown>

function EndButton({ of: signIn, end, onEnd }: { of: SignIn; end: End; onEnd: () => void }) {
  const action = useAction(async () => {
    await end(signIn)
    onEnd()
  })
  return (
    <>
      <ErrorNotice error={action.error} />
      <ActionButton action={action} onClick={action.run}>
        {action.busy ? 'Ending…' : 'End'}
      </ActionButton>
    </>
  )
}

/** Sign-ins, each of which can be ended but that of this page, which the menu does. */
function SignInTable({ data, end }: { data: Data<SignIn[]>; end: End }) {
  const columns: Column<SignIn>[] = [
    {
      name: 'Browser',
      cell: ({ user_agent, is_current }) => (
        <span title={user_agent ?? undefined}>
          {agentName(user_agent)} {is_current && <Status tone="good">this one</Status>}
        </span>
      ),
    },
    { name: 'Address', cell: ({ last_address }) => <span class="mono break">{last_address ?? NONE}</span> },
    { name: 'Signed in', number: true, cell: ({ created_at }) => <Ago at={created_at} /> },
    { name: 'Last used', number: true, cell: ({ last_used_at }) => <Ago at={last_used_at} /> },
    {
      name: '',
      number: true,
      cell: (signIn) => (signIn.is_current ? '' : <EndButton of={signIn} end={end} onEnd={data.again} />),
    },
  ]
  return (
    <Loaded data={data}>
      {(signIns) =>
        signIns.length === 0 ? (
          <Empty title="Nowhere signed in" />
        ) : (
          <Table caption="Sign-ins" columns={columns} rows={signIns} rowKey={({ id }) => id} />
        )
      }
    </Loaded>
  )
}

/** Where the user is signed in. */
export function OwnSignIns() {
  const data = useData((signal) => turnpike.get('/api/account/sign-ins', { signal }), [])
  const others = useAction(async () => {
    await turnpike.signOut({ scope: 'others' })
    data.again()
  })
  return (
    <Panel
      title="Sign-ins"
      actions={
        <ActionButton action={others} onClick={others.run}>
          {others.busy ? 'Signing out…' : 'Sign out elsewhere'}
        </ActionButton>
      }
    >
      {(others.done || others.error !== undefined) && (
        <div class="body">
          <ErrorNotice error={others.error} />
          {others.done && <Notice>You are signed in here only.</Notice>}
        </div>
      )}
      <SignInTable data={data} end={({ id }) => turnpike.delete('/api/account/sign-ins/{id}', { params: { id } })} />
    </Panel>
  )
}

/** Where a user is signed in. */
export function UserSignIns({ user }: { user: User }) {
  const params = { id: user.id }
  const data = useData((signal) => turnpike.get('/api/users/{id}/sign-ins', { params, signal }), [user.id])
  const all = useAction(async () => {
    await turnpike.delete('/api/users/{id}/sign-ins', { params })
    data.again()
  })
  return (
    <Folded summary="Sign-ins">
      <SignInTable
        data={data}
        end={({ id }) =>
          turnpike.delete('/api/users/{id}/sign-ins/{signInId}', { params: { ...params, signInId: id } })
        }
      />
      <ErrorNotice error={all.error} />
      <div class="row end">
        <ConfirmButton action={all} label="End all sign-ins" busy="Ending…" title="End all sign-ins?">
          <p class="break">{user.email} has to sign in again everywhere. Keys and tokens for programs still work.</p>
        </ConfirmButton>
      </div>
    </Folded>
  )
}

import type { Schemas } from '@turnpike/client'
import { read } from '@turnpike/dashboard/session'
import type { Column, OnChange } from '@turnpike/ui'
import {
  Ago,
  count,
  Empty,
  NONE,
  Page,
  route,
  Segmented,
  setQuery,
  textOf,
  usd,
  useChanges,
  useData,
  useNew,
} from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { LinkToHandOn } from '../link-to-hand-on.js'
import type { User } from '../turnpike.js'
import { fullName, turnpike } from '../turnpike.js'
import { PagedTable, useAgain, usePages } from '../use-pages.js'
import { Invitations } from './invitations.js'
import { Invite } from './invite.js'
import { NewUser } from './new-user.js'
import { UserDrawer } from './user-drawer.js'

type Invitation = Schemas['Invitation']

/** What a user has used. */
interface Spend {
  id: string
  requests: number
  cost_usd: number
  last_used_at: string | null
}
/** Most users whose usage is read. */
const MOST = 500

/** Which users are listed: one by e-mail, or all of those that are or are not deleted. */
interface Filter {
  email: string
  isDeleted: boolean
}

/** What the newest users have used in all, by their ids. */
async function readSpend(signal: AbortSignal): Promise<Map<string, Spend>> {
  const { data } = await read<{ data: Spend[] }>(`users/summary?limit=${MOST}`, signal)
  return new Map(data.map((one) => [one.id, one]))
}

/** A figure where it is known. */
const figure = (value: number | undefined, format: (value: number) => string): string =>
  value === undefined ? NONE : format(value)

function UserList({ email, isDeleted, changes, onChange }: Filter & { changes: number; onChange: OnChange }) {
  const pages = usePages((page, signal) =>
    turnpike.list('/api/users', {
      query: { ...page, deleted: isDeleted ? 'true' : 'false', ...(email && { email }) },
      signal,
    }),
  )
  useAgain(pages, changes)
  const spend = useData(readSpend, [])
  const [opened, setOpened] = useState<User>()
  const columns: Column<User>[] = [
    {
      name: 'E-mail',
      cell: (user) => (
        <button type="button" class="link" onClick={() => setOpened(user)}>
          {user.email || user.id}
        </button>
      ),
    },
    { name: 'Name', cell: fullName },
    { name: 'Role', cell: ({ role }) => <span class={`badge ${role === 'admin' ? 'accent' : ''}`}>{role}</span> },
    { name: 'Requests', number: true, cell: ({ id }) => figure(spend.value?.get(id)?.requests, count) },
    { name: 'Cost', number: true, cell: ({ id }) => figure(spend.value?.get(id)?.cost_usd, usd) },
    {
      name: 'Last request',
      number: true,
      cell: ({ id }) => {
        const at = spend.value?.get(id)?.last_used_at
        return at ? <Ago at={at} /> : NONE
      },
    },
    {
      name: isDeleted ? 'Deleted' : 'Since',
      number: true,
      cell: ({ deleted_at, created_at }) => <Ago at={deleted_at ?? created_at} />,
    },
  ]
  return (
    <section class="panel">
      <PagedTable
        caption="Users"
        columns={columns}
        pages={pages}
        name="user"
        empty={
          <Empty title={email ? `Nobody has the e-mail ${email}` : 'Nobody is deleted'}>
            <p>
              {email
                ? 'An e-mail is found by all of its letters, in whatever case.'
                : 'Users whom you delete can be restored here.'}
            </p>
          </Empty>
        }
      />
      {opened && (
        <UserDrawer
          key={opened.id}
          id={opened.id}
          name={opened.email || opened.id}
          onClose={() => setOpened(undefined)}
          onChange={onChange}
        />
      )}
    </section>
  )
}

export function Users() {
  const { query } = route.value
  const filter: Filter = { email: query.get('email') ?? '', isDeleted: query.get('show') === 'deleted' }
  const isInvitations = query.get('show') === 'invitations'
  const [isMaking, setMaking] = useNew('New user')
  const [isInviting, setInviting] = useState(false)
  // Each stays until it has been copied.
  const [toHandOn, setToHandOn] = useState<readonly Invitation[]>([])
  const { count, notice, onChange, clearNotice } = useChanges()
  const show = (fields: { email?: string; show?: string }): void => {
    clearNotice()
    setQuery(fields)
  }
  const onInvited = (invitation: Invitation): void => {
    if (invitation.url !== undefined) setToHandOn((all) => [invitation, ...all])
    onChange(invitation.url === undefined ? `${invitation.email} is invited.` : undefined)
  }
  return (
    <Page
      title="Users"
      actions={
        <>
          <form
            class="row"
            role="search"
            onSubmit={(event) => {
              event.preventDefault()
              show({ email: textOf(new FormData(event.currentTarget), 'email') })
            }}
          >
            <input
              key={filter.email}
              class="search"
              name="email"
              type="search"
              aria-label="E-mail to find"
              placeholder="E-mail"
              defaultValue={filter.email}
            />
            <button>Find</button>
            {filter.email && (
              <button type="button" class="quiet" onClick={() => show({ email: '' })}>
                Show all
              </button>
            )}
          </form>
          <Segmented
            label="Shown"
            options={[
              ['', 'Users'],
              ['deleted', 'Deleted'],
              ['invitations', 'Invitations'],
            ]}
            value={query.get('show') ?? ''}
            onChange={(value) => show({ show: value })}
          />
          <button type="button" onClick={() => setMaking(true)}>
            New user
          </button>
          <button type="button" class="primary" onClick={() => setInviting(true)}>
            Invite
          </button>
        </>
      }
    >
      {toHandOn.map((one) => (
        <LinkToHandOn
          key={one.id}
          to={one.email}
          url={one.url!}
          error={one.mail_error}
          onDone={() => setToHandOn((all) => all.filter((other) => other !== one))}
        />
      ))}
      {notice}
      {isInvitations ? (
        <Invitations changes={count} onInvited={onInvited} onChange={onChange} />
      ) : (
        <UserList key={`${filter.email} ${filter.isDeleted}`} {...filter} changes={count} onChange={onChange} />
      )}
      {isInviting && <Invite onInvited={onInvited} onClose={() => setInviting(false)} />}
      {isMaking && <NewUser onMade={onChange} onClose={() => setMaking(false)} />}
    </Page>
  )
}

import type { Column } from '@turnpike/ui'
import {
  Announcement,
  Confirm,
  count,
  Empty,
  ErrorNotice,
  Filter,
  KeyState,
  linkTo,
  Loaded,
  matches,
  NONE,
  numberColumn,
  Page,
  Panel,
  plural,
  route,
  setQuery,
  Table,
  time,
  useAction,
} from '@turnpike/ui'
import { useState } from 'preact/hooks'
import type { Key } from './answers.js'
import { send } from './api.js'
import { useRows } from './rows.js'

export function Keys() {
  const data = useRows<Key>('keys')
  const [asked, setAsked] = useState<Key>()
  const [revoked, setRevoked] = useState<Key>()
  const filter = route.value.query.get('filter') ?? ''
  const revoke = useAction(async (key: Key) => {
    setRevoked(undefined)
    await send(`admin/keys/${key.id}`, { method: 'DELETE' })
    setRevoked(key)
    data.again()
  })
  const columns: Column<Key>[] = [
    {
      name: 'Key',
      cell: ({ id, name }) => (
        <>
          <a href={linkTo('/usage', { by: 'key', id })}>{name || 'without a name'}</a>
          <p class="small muted mono">{id}</p>
        </>
      ),
      sort: ({ name }) => name,
    },
    {
      name: 'Owner',
      cell: ({ user, user_id }) => <a href={linkTo('/usage', { by: 'user', id: user_id })}>{user ?? user_id}</a>,
      sort: ({ user }) => user ?? '',
    },
    {
      name: 'State',
      cell: (key) => <KeyState {...key} />,
      sort: ({ revoked }) => Number(revoked),
    },
    numberColumn('Requests a minute', ({ rate_limit }) => rate_limit, count),
    {
      name: 'Last used',
      cell: ({ last_used_at }) => (last_used_at === null ? 'never' : time(last_used_at)),
      sort: ({ last_used_at }) => last_used_at ?? '',
    },
    { name: 'Made', cell: ({ created_at }) => time(created_at), sort: ({ created_at }) => created_at },
    {
      name: 'Revoke',
      cell: (key) =>
        key.revoked ? (
          NONE
        ) : (
          <button type="button" class="danger" aria-label={`Revoke ${key.name}`} onClick={() => setAsked(key)}>
            Revoke
          </button>
        ),
    },
  ]
  return (
    <Page title="Keys">
      <ErrorNotice error={revoke.error} />
      {revoked && (
        <Announcement key={revoked.id}>
          <p>The key “{revoked.name}” is revoked.</p>
        </Announcement>
      )}
      <Loaded data={data}>
        {({ rows, cut }) => {
          const shown = rows.filter(({ name, id, user, user_id }) => matches(filter, [name, id, user, user_id]))
          return (
            <>
              <div class="spread">
                <p class="muted">
                  The value of a key is shown once, to whoever makes it: developers in the console, or by POST
                  /api/keys.
                </p>
                <Filter value={filter} onChange={(filter) => setQuery({ filter })} />
              </div>
              <Panel title={`${cut ? 'The first ' : ''}${plural(shown.length, 'key')}`}>
                {rows.length === 0 ? (
                  <Empty title="No key yet">
                    <p>A developer makes one with POST /api/keys.</p>
                  </Empty>
                ) : (
                  <Table caption="Gateway keys" columns={columns} rows={shown} rowKey={({ id }) => id} />
                )}
              </Panel>
            </>
          )
        }}
      </Loaded>
      {asked && (
        <Confirm
          title={`Revoke “${asked.name}”?`}
          action="Revoke the key"
          onConfirm={() => revoke.run(asked)}
          onClose={() => setAsked(undefined)}
        >
          <p>Requests with this key of {asked.user ?? asked.user_id} are refused from now on. This cannot be undone.</p>
        </Confirm>
      )}
    </Page>
  )
}

import type { Column } from '@turnpike/ui'
import {
  Ago,
  Announcement,
  count,
  Empty,
  Filter,
  KeyState,
  linkTo,
  Loaded,
  matches,
  numberColumn,
  Page,
  Panel,
  plural,
  route,
  setQuery,
  Table,
} from '@turnpike/ui'
import { useState } from 'preact/hooks'
import type { Key } from './answers.js'
import { KeyDrawer } from './key-drawer.js'
import { useRows } from './rows.js'

const columns: Column<Key>[] = [
  {
    name: 'Key',
    cell: ({ id, name }) => (
      <>
        <button type="button" class="link" onClick={() => setQuery({ id })}>
          {name || 'without a name'}
        </button>
        <p class="small muted mono">{id}</p>
      </>
    ),
    sort: ({ name }) => name,
  },
  {
    name: 'Owner',
    cell: ({ user, user_id }) => <a href={linkTo('/admin/usage', { by: 'user', id: user_id })}>{user ?? user_id}</a>,
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
    cell: ({ last_used_at }) => (last_used_at === null ? 'never' : <Ago at={last_used_at} />),
    sort: ({ last_used_at }) => last_used_at ?? '',
  },
  { name: 'Made', cell: ({ created_at }) => <Ago at={created_at} />, sort: ({ created_at }) => created_at },
]

export function Keys() {
  const data = useRows<Key>('keys')
  const [done, setDone] = useState<string>()
  const { query } = route.value
  const filter = query.get('filter') ?? ''
  const opened = data.value?.rows.find(({ id }) => id === query.get('id'))
  return (
    <Page title="Keys">
      {done !== undefined && (
        <Announcement key={done}>
          <p class="break">{done}</p>
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
      {opened && (
        <KeyDrawer
          key={opened.id}
          of={opened}
          onChange={(done) => {
            setDone(done)
            data.again()
          }}
          onClose={() => setQuery({ id: undefined })}
        />
      )}
    </Page>
  )
}

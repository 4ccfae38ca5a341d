import type { Column } from '@turnpike/ui'
import {
  Ago,
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
  useChanges,
} from '@turnpike/ui'
import { useEffect } from 'preact/hooks'
import type { Key } from './answers.js'
import { KeyDrawer } from './key-drawer.js'
import { useRows } from './rows.js'

const columns: Column<Key>[] = [
  {
    name: 'Key',
    cell: ({ id, name, key_end: end }) => (
      <>
        <button type="button" class="link" onClick={() => setQuery({ id })}>
          {name || 'without a name'}
        </button>
        <p class="small muted mono">{end === undefined ? id : `…${end}`}</p>
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
  { name: 'Created', cell: ({ created_at }) => <Ago at={created_at} />, sort: ({ created_at }) => created_at },
]

export function Keys() {
  const data = useRows<Key>('keys')
  const { count: changes, notice, onChange } = useChanges()
  useEffect(() => {
    if (changes > 0) data.again()
  }, [changes])
  const { query } = route.value
  const filter = query.get('filter') ?? ''
  const opened = data.value?.rows.find(({ id }) => id === query.get('id'))
  return (
    <Page title="Keys">
      {notice}
      <Loaded data={data}>
        {({ rows, cut }) => {
          const shown = rows.filter(({ name, id, user, user_id, key_end: end }) =>
            matches(filter, [name, id, user, user_id, end]),
          )
          return (
            <>
              <div class="spread">
                <p class="muted">
                  The value of a key is shown once, to whoever makes it: developers in the console, or by POST
                  /api/keys.
                </p>
                <Filter
                  value={filter}
                  hint="name, owner, last characters"
                  onChange={(filter) => setQuery({ filter })}
                />
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
        <KeyDrawer key={opened.id} of={opened} onChange={onChange} onClose={() => setQuery({ id: undefined })} />
      )}
    </Page>
  )
}

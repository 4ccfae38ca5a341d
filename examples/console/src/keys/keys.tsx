import type { Schemas } from '@turnpike/client'
import type { Column } from '@turnpike/ui'
import {
  Ago,
  count,
  Empty,
  ErrorNotice,
  KeyState,
  modelToTry,
  NONE,
  Page,
  route,
  setQuery,
  usd,
  useChanges,
  useData,
  useNew,
  RowLink,
} from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import { PagedTable, useAgain, usePages } from '../use-pages.js'
import { KeyDrawer } from './key-drawer.js'
import type { MadeKey } from './new-key.js'
import { NewKey, NewKeyNotice } from './new-key.js'

export type Key = Schemas['GatewayKey']
export type KeyUsage = Schemas['KeysUsage']['keys'][number]

export function Keys() {
  const [isMaking, setMaking] = useNew('New key')
  // Each stays until it has been copied.
  const [newKeys, setNewKeys] = useState<readonly MadeKey[]>([])
  const openedId = route.value.query.get('id')
  const open = (id?: string): void => setQuery({ id })
  const { count: changes, notice, onChange } = useChanges()
  const pages = usePages((page, signal) => turnpike.list('/api/keys', { query: page, signal }))
  useAgain(pages, changes)
  const usage = useData((signal) => turnpike.get('/api/keys/usage', { signal }), [])
  useAgain(usage, changes)
  const limits = useData((signal) => turnpike.get('/api/account/limits', { signal }), [])
  const models = useData((signal) => turnpike.get('/api/gateway/v1/models', { signal }), [])
  const listed = [...new Set(models.value?.data.map(({ id }) => id))]
  const fastest = limits.value?.key_rate_limit
  const used = new Map(usage.value?.keys.map((one) => [one.id, one]))
  const figure = (value: number | undefined, format: (value: number) => string): string =>
    usage.value ? format(value ?? 0) : NONE
  const columns: Column<Key>[] = [
    {
      name: 'Name',
      cell: ({ id, name, key_end: end }) => (
        <>
          <RowLink open={() => open(id)}>{name}</RowLink>
          {end !== undefined && <p class="small muted mono">…{end}</p>}
        </>
      ),
    },
    { name: 'State', cell: (key) => <KeyState {...key} /> },
    { name: 'Per minute', number: true, cell: ({ rate_limit }) => count(rate_limit) },
    { name: 'Requests', number: true, cell: ({ id }) => figure(used.get(id)?.requests, count) },
    { name: 'Tokens', number: true, cell: ({ id }) => figure(used.get(id)?.total_tokens, count) },
    { name: 'Cost', number: true, cell: ({ id }) => figure(used.get(id)?.cost_usd, usd) },
    { name: 'Created', number: true, cell: ({ created_at }) => <Ago at={created_at} /> },
    { name: 'Last used', number: true, cell: ({ last_used_at: at }) => (at ? <Ago at={at} /> : NONE) },
  ]
  const show = (made: MadeKey): void => {
    setNewKeys((keys) => [made, ...keys])
    onChange()
  }
  const opened = pages.value?.items.find(({ id }) => id === openedId)
  return (
    <Page
      title="Keys"
      actions={
        <button type="button" class="primary" onClick={() => setMaking(true)}>
          New key
        </button>
      }
    >
      {newKeys.map((made) => (
        <NewKeyNotice
          key={made.key.id}
          made={made}
          model={made.key.models?.[0] ?? modelToTry(listed)}
          onDone={() => setNewKeys((keys) => keys.filter((one) => one !== made))}
        />
      ))}
      {notice}
      <ErrorNotice error={usage.error} again={usage.again} />
      <section class="panel" aria-label="Keys">
        <PagedTable
          caption="Keys"
          columns={columns}
          pages={pages}
          name="key"
          empty={
            <Empty title="No key yet" shape="rows">
              <p>A program needs one to ask models at /v1 of this server. What it uses is taken off your credits.</p>
            </Empty>
          }
        />
      </section>
      {isMaking && <NewKey fastest={fastest} models={listed} onClose={() => setMaking(false)} onMade={show} />}
      {opened && (
        <KeyDrawer
          key={opened.id}
          of={opened}
          used={used.get(opened.id)}
          fastest={fastest}
          models={listed}
          onChange={onChange}
          onRotated={show}
          onClose={() => open()}
        />
      )}
    </Page>
  )
}

import type { Column, OnChange } from '@turnpike/ui'
import {
  Ago,
  Code,
  ConfirmButton,
  Dialog,
  Empty,
  ErrorNotice,
  Facts,
  NONE,
  Panel,
  Status,
  time,
  useAction,
  useChanges,
  useNew,
  RowLink,
} from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { ShownOnce } from '../shown-once.js'
import { turnpike } from '../turnpike.js'
import { PagedTable, useAgain, usePages } from '../use-pages.js'
import { NewToken } from './new-token.js'
import type { Token } from './token-scopes.js'
import { curl } from './token-scopes.js'

/** A token, which can be revoked. */
function TokenDialog({ of: token, onChange, onClose }: { of: Token; onChange: OnChange; onClose: () => void }) {
  const revoke = useAction(async () => {
    await turnpike.delete('/api/tokens/{id}', { params: { id: token.id } })
    onClose()
    onChange(`${token.name} is revoked.`)
  })
  return (
    <Dialog title={token.name} form="box" onClose={onClose}>
      <Facts
        facts={[
          ['Scopes', <span class="mono">{token.scopes.join(', ')}</span>],
          ['Created', time(token.created_at)],
          ['End', token.expires_at === undefined ? 'never' : time(token.expires_at)],
          ['Id', <span class="mono">{token.id}</span>],
        ]}
      />
      <ErrorNotice error={revoke.error} />
      <div class="row end">
        <ConfirmButton action={revoke} label="Revoke" busy="Revoking…" title="Revoke the token?">
          <p>
            Programs that use <strong class="break">{token.name}</strong> are refused from then on.
          </p>
        </ConfirmButton>
      </div>
    </Dialog>
  )
}

/** The tokens by which programs act as the user. */
export function Tokens() {
  const [isMaking, setMaking] = useNew('New token')
  // Each stays until it has been copied.
  const [newTokens, setNewTokens] = useState<readonly Token[]>([])
  const [openedId, open] = useState<string>()
  const { count: changes, notice, onChange } = useChanges()
  const pages = usePages((page, signal) => turnpike.list('/api/tokens', { query: page, signal }))
  useAgain(pages, changes)
  const columns: Column<Token>[] = [
    {
      name: 'Name',
      cell: ({ id, name }) => <RowLink open={() => open(id)}>{name}</RowLink>,
    },
    { name: 'Scopes', cell: ({ scopes }) => <span class="mono break">{scopes.join(', ')}</span> },
    { name: 'Created', number: true, cell: ({ created_at }) => <Ago at={created_at} /> },
    {
      name: 'Ends',
      number: true,
      cell: ({ expires_at: at }) =>
        at === undefined ? NONE : Date.parse(at) > Date.now() ? <Ago at={at} /> : <Status tone="off">expired</Status>,
    },
  ]
  const opened = pages.value?.items.find(({ id }) => id === openedId)
  return (
    <>
      {newTokens.map((made) => (
        <ShownOnce
          key={made.id}
          label="The token"
          value={made.token!}
          request={curl(made.token!, made.scopes)}
          onDone={() => setNewTokens((tokens) => tokens.filter((one) => one !== made))}
        >
          <strong class="break">{made.name}</strong> is created. Copy the token now: it is shown this once, and nobody
          can look it up later.
        </ShownOnce>
      ))}
      {notice}
      <Panel
        title="Tokens for programs"
        actions={
          <button type="button" onClick={() => setMaking(true)}>
            New token
          </button>
        }
      >
        <PagedTable
          caption="Tokens"
          columns={columns}
          pages={pages}
          name="token"
          empty={
            <Empty title="No token yet">
              <p>With one, a program such as a worker acts as you, in the parts that you choose.</p>
              <Code text={curl('tpt-…', ['tasks:read'])} label="A request with a token" />
            </Empty>
          }
        />
      </Panel>
      {isMaking && (
        <NewToken
          onClose={() => setMaking(false)}
          onMade={(made) => {
            setNewTokens((tokens) => [made, ...tokens])
            onChange()
          }}
        />
      )}
      {opened && <TokenDialog key={opened.id} of={opened} onChange={onChange} onClose={() => open(undefined)} />}
    </>
  )
}

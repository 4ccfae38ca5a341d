import type { Schemas } from '@turnpike/client'
import type { Column } from '@turnpike/ui'
import {
  Announcement,
  Code,
  Confirm,
  count,
  Dialog,
  Empty,
  ErrorNotice,
  Field,
  Form,
  inShell,
  KeyState,
  modelToTry,
  NONE,
  Page,
  textOf,
  time,
  usd,
  useAction,
  useData,
} from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { turnpike } from './turnpike.js'
import { PagedTable, usePages } from './use-pages.js'

type Key = Schemas['GatewayKey']

/** The requests a minute of a key, where no others are asked for. */
const RATE_LIMIT = 60

const curl = (key: string, model: string): string =>
  `curl ${new URL('v1/chat/completions', location.href).href} -H "Authorization: Bearer ${key}" ` +
  `-H "Content-Type: application/json" -d ${inShell(JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] }))}`

/** Asks for the name and the limits of a key. @param fastest the requests per minute that it may have, as far as that is known */
function NewKey({
  fastest,
  onMade,
  onClose,
}: {
  fastest: number | undefined
  onMade: (made: Key) => void
  onClose: () => void
}) {
  const make = useAction(async (fields: FormData) => {
    const [usd, per, end] = ['usd', 'per', 'end'].map((name) => textOf(fields, name))
    const models = textOf(fields, 'models')
      .split(/[\s,]+/)
      .filter(Boolean)
    const body = {
      name: textOf(fields, 'name'),
      rateLimit: Number(textOf(fields, 'limit')),
      ...(usd && { budget: { usd: Number(usd), ...(per && { per: per as 'day' | 'month' }) } }),
      ...(models.length > 0 && { models }),
      ...(end && { expiresAt: new Date(end).toISOString() }),
    }
    onMade(await turnpike.post('/api/keys', { body }))
    onClose()
  })
  return (
    <Dialog title="New key" form="box" onClose={onClose}>
      <Form action={make} label="Make key">
        <Field label="Name" hint="What it is for, such as laptop.">
          {(ids) => <input {...ids} name="name" maxLength={200} required autofocus />}
        </Field>
        <Field label="Requests per minute" hint={fastest === undefined ? undefined : `At most ${count(fastest)}.`}>
          {(ids) => (
            <input
              {...ids}
              name="limit"
              type="number"
              min={1}
              max={fastest}
              step={1}
              defaultValue={Math.min(RATE_LIMIT, fastest ?? RATE_LIMIT)}
              required
            />
          )}
        </Field>
        {/* A field that is wrong can be pointed at only where it is shown. */}
        <details onInvalidCapture={(event) => (event.currentTarget.open = true)}>
          <summary>Budget, models, end</summary>
          <div class="stack">
            <Field
              label="Budget in US dollars"
              hint="Requests are refused when it is used up. Without one, there is no limit."
            >
              {(ids) => <input {...ids} name="usd" type="number" min={0} max={1_000_000} step="any" />}
            </Field>
            <Field label="The budget is for">
              {(ids) => (
                <select {...ids} name="per">
                  <option value="">all time</option>
                  <option value="month">each month</option>
                  <option value="day">each day</option>
                </select>
              )}
            </Field>
            <Field
              label="Models"
              hint="Ids, with commas between them, such as gpt-4o-mini. Without any, all are allowed."
            >
              {(ids) => <input {...ids} name="models" />}
            </Field>
            <Field label="End" hint="The key is refused after it. Without one, it never ends.">
              {(ids) => <input {...ids} name="end" type="datetime-local" />}
            </Field>
          </div>
        </details>
      </Form>
    </Dialog>
  )
}

/** The value of a new key. The server does not know it afterwards. */
const NewKeyNotice = ({ made, model, onDone }: { made: Key; model: string; onDone: () => void }) => (
  <Announcement tone="warn">
    <p>
      <strong class="break">{made.name}</strong> is made. Copy the key now: it is shown this once, and nobody can look
      it up later.
    </p>
    <Code text={made.key!} label="The key" />
    <details>
      <summary>A first request</summary>
      <Code text={curl(made.key!, model)} label="A first request" />
    </details>
    <div>
      <button type="button" onClick={onDone}>
        I have copied it
      </button>
    </div>
  </Announcement>
)

export function Keys() {
  const [isMaking, setMaking] = useState(false)
  // Each stays until it has been copied.
  const [newKeys, setNewKeys] = useState<readonly Key[]>([])
  const [revoking, setRevoking] = useState<Key>()
  const pages = usePages((page, signal) => turnpike.list('/api/keys', { query: page, signal }))
  const usage = useData((signal) => turnpike.get('/api/keys/usage', { signal }), [])
  const limits = useData((signal) => turnpike.get('/api/account/limits', { signal }), [])
  const models = useData((signal) => turnpike.get('/api/gateway/v1/models', { signal }), [])
  const listed = models.value?.data.map(({ id }) => id) ?? []
  const [revoked, setRevoked] = useState<Key>()
  const revoke = useAction(async (key: Key) => {
    setRevoked(undefined)
    await turnpike.delete('/api/keys/{id}', { params: { id: key.id } })
    setRevoked(key)
    pages.again()
  })
  const used = new Map(usage.value?.keys.map((one) => [one.id, one]))
  const figure = (value: number | undefined, format: (value: number) => string): string =>
    usage.value ? format(value ?? 0) : NONE
  const columns: Column<Key>[] = [
    { name: 'Name', cell: ({ name }) => name },
    {
      name: 'State',
      cell: (key) => (
        <KeyState {...key}>
          {!key.revoked && (
            <button type="button" class="link nowrap" onClick={() => setRevoking(key)}>
              Revoke<span class="visually-hidden"> {key.name}</span>
            </button>
          )}
        </KeyState>
      ),
    },
    { name: 'Per minute', number: true, cell: ({ rate_limit }) => count(rate_limit) },
    { name: 'Requests', number: true, cell: ({ id }) => figure(used.get(id)?.requests, count) },
    { name: 'Tokens', number: true, cell: ({ id }) => figure(used.get(id)?.total_tokens, count) },
    { name: 'Cost', number: true, cell: ({ id }) => figure(used.get(id)?.cost_usd, usd) },
    { name: 'Made', number: true, cell: ({ created_at }) => time(created_at) },
    { name: 'Last used', number: true, cell: ({ last_used_at: at }) => (at ? time(at) : NONE) },
  ]
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
          key={made.id}
          made={made}
          model={made.models?.[0] ?? modelToTry(listed)}
          onDone={() => setNewKeys((keys) => keys.filter((one) => one.id !== made.id))}
        />
      ))}
      {revoked && (
        <Announcement key={revoked.id}>
          <p class="break">{revoked.name} is revoked.</p>
        </Announcement>
      )}
      {revoke.busy && (
        <p class="muted" role="status">
          Revoking…
        </p>
      )}
      <ErrorNotice error={revoke.error} />
      <ErrorNotice error={usage.error} again={usage.again} />
      <section class="panel" aria-label="Keys">
        <PagedTable
          caption="Keys"
          columns={columns}
          pages={pages}
          name="key"
          empty={
            <Empty title="No key yet">
              <p>A program needs one to ask models at /v1 of this server. What it uses is taken off your credits.</p>
            </Empty>
          }
        />
      </section>
      {isMaking && (
        <NewKey
          fastest={limits.value?.key_rate_limit}
          onClose={() => setMaking(false)}
          onMade={(key) => {
            setNewKeys((keys) => [key, ...keys])
            pages.again()
          }}
        />
      )}
      {revoking && (
        <Confirm
          title="Revoke the key?"
          action="Revoke"
          onConfirm={() => revoke.run(revoking)}
          onClose={() => setRevoking(undefined)}
        >
          <p>
            Programs that use <strong class="break">{revoking.name}</strong> are refused from then on. What it used
            stays in the list.
          </p>
        </Confirm>
      )}
    </Page>
  )
}

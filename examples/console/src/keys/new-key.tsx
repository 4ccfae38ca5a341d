import { Dialog, Form, inShell, KeyFields, keyIn, time, useAction } from '@turnpike/ui'
import { ShownOnce } from '../shown-once.js'
import { turnpike } from '../turnpike.js'
import type { Key } from './keys.js'

/** A key that was just made. */
export interface MadeKey {
  key: Key
  /** Where it is in place of another one: until when that works. */
  oldUntil?: string
}

const curl = (key: string, model: string): string =>
  `curl ${new URL('v1/chat/completions', location.href).href} -H "Authorization: Bearer ${key}" ` +
  `-H "Content-Type: application/json" -d ${inShell(JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] }))}`

/** Asks for the name and the limits of a key. @param fastest the requests per minute that it may have, as far as that is known */
export function NewKey({
  fastest,
  models,
  onMade,
  onClose,
}: {
  fastest: number | undefined
  models: readonly string[]
  onMade: (made: MadeKey) => void
  onClose: () => void
}) {
  const make = useAction(async (fields: FormData) => {
    onMade({ key: await turnpike.post('/api/keys', { body: keyIn(fields) }) })
    onClose()
  })
  return (
    <Dialog title="New key" form="box" onClose={onClose}>
      <Form action={make} label="Create key">
        <KeyFields fastest={fastest} models={models} />
      </Form>
    </Dialog>
  )
}

const untilWhen = (old: string): string =>
  Date.parse(old) > Date.now() ? `The old one works until ${time(old)}.` : 'The old one is refused from now on.'

/** The value of a new key. The server does not know it afterwards. */
export const NewKeyNotice = ({
  made: { key, oldUntil },
  model,
  onDone,
}: {
  made: MadeKey
  model: string
  onDone: () => void
}) => (
  <ShownOnce label="The key" value={key.key!} request={curl(key.key!, model)} onDone={onDone}>
    <strong class="break">{key.name}</strong> is {oldUntil === undefined ? 'created' : 'rotated'}. Copy the{' '}
    {oldUntil === undefined ? '' : 'new '}key now: it is shown this once, and nobody can look it up later.{' '}
    {oldUntil !== undefined && untilWhen(oldUntil)}
  </ShownOnce>
)

import { Dialog, Field, Form, textOf, useAction } from '@turnpike/ui'
import { turnpike } from '../turnpike.js'
import type { Key } from './keys.js'
import type { MadeKey } from './new-key.js'

/** How long an old key works, in seconds. */
const overlaps = [
  [0, 'not at all'],
  [3_600, 'an hour'],
  [86_400, 'a day'],
  [604_800, 'a week'],
] as const
const DAY = 86_400

/** Until when the old key works: never longer than it would have. */
const endOf = (old: Key, made: Key, overlap: number): string =>
  new Date(
    Math.min(Date.parse(made.created_at) + overlap * 1_000, Date.parse(old.expires_at ?? '') || Infinity),
  ).toISOString()

/** Asks how long a key still works, and makes another one in its place. */
export function RotateKey({
  of: old,
  onMade,
  onClose,
}: {
  of: Key
  onMade: (made: MadeKey) => void
  onClose: () => void
}) {
  const rotate = useAction(async (fields: FormData) => {
    const overlap = Number(textOf(fields, 'overlap'))
    const key = await turnpike.post('/api/keys/{id}/rotate', {
      params: { id: old.id },
      query: { overlap },
    })
    onClose()
    onMade({ key, oldUntil: endOf(old, key, overlap) })
  })
  return (
    <Dialog title="Rotate the key?" form="box" onClose={onClose}>
      <p>
        A new key takes the place of <strong class="break">{old.name}</strong>, with the same limits, the same budget
        and the same end users.
      </p>
      <Form action={rotate} label="Rotate">
        <Field label="The old key still works for" name="overlap" hint="Time to hand out the new one.">
          {(ids) => (
            <select {...ids} autofocus>
              {overlaps.map(([seconds, text]) => (
                <option key={seconds} value={seconds} selected={seconds === DAY}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
      </Form>
    </Dialog>
  )
}

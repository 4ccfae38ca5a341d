import { Dialog, EndField, endIn, Field, Form, textOf, useAction } from '@turnpike/ui'
import { turnpike } from '../turnpike.js'
import type { Token } from './token-scopes.js'
import { parts, scopesIn } from './token-scopes.js'

/** Asks for the name, the scopes and the end of a token. */
export function NewToken({ onMade, onClose }: { onMade: (made: Token) => void; onClose: () => void }) {
  const make = useAction(async (fields: FormData) => {
    const scopes = scopesIn(fields)
    if (scopes.length === 0) throw new Error('Choose at least one scope.')
    const body = { name: textOf(fields, 'name'), scopes, expiresAt: endIn(fields) }
    onMade(await turnpike.post('/api/tokens', { body }))
    onClose()
  })
  return (
    <Dialog title="New token" form="box" onClose={onClose}>
      <Form action={make} label="Create token">
        <Field label="Name" name="name" hint="The program that uses it, such as worker.">
          {(ids) => <input {...ids} maxLength={200} required autofocus />}
        </Field>
        <fieldset>
          <legend>Scopes</legend>
          <div class="numbers">
            {parts.map(({ key, name, hint, options }) => (
              <Field key={key} label={name} name={key} hint={hint}>
                {(ids) => (
                  <select {...ids}>
                    <option value="">No access</option>
                    {options.map(([scope, text]) => (
                      <option key={scope} value={scope}>
                        {text}
                      </option>
                    ))}
                  </select>
                )}
              </Field>
            ))}
          </div>
        </fieldset>
        <EndField hint="The token is refused after it. Without one, it never ends." />
      </Form>
    </Dialog>
  )
}

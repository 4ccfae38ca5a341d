import { Field, Form, Loaded, store, stored, textOf, useAction, useData } from '@turnpike/ui'
import { unfit } from '../playground/models.js'
import { turnpike } from '../turnpike.js'

/** Where the model that was used last is kept. */
const MODEL = 'agent-model'

/** Asks which model is to work, at first the one that was chosen last. @param label what the button says */
export function ModelForm({
  label,
  hint,
  run,
}: {
  label: string
  hint: string
  run: (model: string) => Promise<unknown>
}) {
  const models = useData((signal) => turnpike.get('/api/gateway/v1/models', { signal }), [])
  const start = useAction((fields: FormData) => {
    const model = textOf(fields, 'model')
    store(MODEL, model)
    return run(model)
  })
  return (
    <Loaded data={models}>
      {({ data }) => {
        const able = data.filter((model) => unfit(model) === undefined)
        const last = stored(MODEL)
        if (able.length === 0) return <p class="muted">There is no model that you may ask.</p>
        return (
          <Form action={start} label={label}>
            <Field label="Model" hint={hint}>
              {(ids) => (
                <select {...ids} name="model">
                  {able.map(({ id }) => (
                    <option key={id} selected={id === last}>
                      {id}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          </Form>
        )
      }}
    </Loaded>
  )
}

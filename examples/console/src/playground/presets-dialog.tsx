import { Dialog, ErrorNotice, Field, Form, Icon, icons, textOf, useAction } from '@turnpike/ui'
import { deletePreset, load, presetList, savePreset } from './draft.js'

/** Prompts that are kept by a name: to use, to save what is typed, to delete. */
export function PresetsDialog({ onClose }: { onClose: () => void }) {
  const save = useAction(async (fields: FormData) => savePreset(textOf(fields, 'name')))
  const remove = useAction(async (name: string) => deletePreset(name))
  const list = presetList.value
  return (
    <Dialog title="Presets" onClose={onClose}>
      {list.length === 0 ? (
        <p class="muted">
          A preset keeps the prompt, its settings and the models by a name, in this browser until you sign out.
        </p>
      ) : (
        <ul class="stack" aria-label="Presets">
          {list.map(({ name, draft }) => (
            <li key={name} class="spread preset">
              <button
                type="button"
                class="link"
                onClick={() => {
                  load(draft)
                  onClose()
                }}
              >
                {name}
              </button>
              <button type="button" class="quiet" aria-label={`Delete ${name}`} onClick={() => remove.run(name)}>
                <Icon icon={icons.Remove} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <ErrorNotice error={remove.error} />
      <Form action={save} label="Save" done="Saved.">
        <Field label="Save what is typed as" hint="A name that is there is replaced." name="name">
          {(ids) => <input {...ids} maxLength={60} required />}
        </Field>
      </Form>
    </Dialog>
  )
}

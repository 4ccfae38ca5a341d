import type { Schemas } from '@turnpike/client'
import type { OnChange, RowDrawerProps } from '@turnpike/ui'
import {
  ActionButton,
  bytes,
  Check,
  ConfirmButton,
  ErrorNotice,
  Facts,
  Field,
  Form,
  RowDrawer,
  time,
  useAction,
  useData,
} from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import { FileLinks } from './file-links.js'
import { Preview } from './preview.js'

export type UserFile = Schemas['UserFile']

const FileFacts = ({ file }: { file: UserFile }) => (
  <Facts
    facts={[
      ['Type', file.mime_type],
      ['Size', bytes(file.size_bytes)],
      ['Added', time(file.created_at)],
      ['In the trash since', file.deleted_at !== null && time(file.deleted_at)],
      ['Id', <span class="mono">{file.id}</span>],
    ]}
  />
)

/** A file that is not in the trash. */
function Details({ file, onChange }: { file: UserFile; onChange: OnChange }) {
  const params = { id: file.id }
  const [name, setName] = useState(file.display_name)
  const [isPublic, setPublic] = useState(file.is_public)
  const save = useAction(async () => {
    const { display_name } = await turnpike.patch('/api/user-files/{id}', {
      params,
      body: { displayName: name, isPublic },
    })
    setName(display_name)
    onChange()
  })
  const trash = useAction(async () => {
    await turnpike.delete('/api/user-files/{id}', { params })
    onChange(`${file.display_name} is in the trash.`)
  })
  return (
    <>
      <Preview file={file} />
      <FileLinks file={file} />
      <p class="small muted">
        {file.is_public
          ? 'Anybody with the link can read the file as long as it is public.'
          : 'Anybody with the link can read the file for about an hour. A public file has a link that stays.'}
      </p>
      <Form
        action={save}
        label="Save"
        done="Saved."
        hasChanges={name !== file.display_name || isPublic !== file.is_public}
      >
        <Field label="Name" name="displayName">
          {(ids) => (
            <input
              {...ids}
              value={name}
              maxLength={255}
              required
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        <Check label="Public: anybody with its link can read it" checked={isPublic} onChange={setPublic} />
      </Form>
      <FileFacts file={file} />
      <ErrorNotice error={trash.error} />
      <div class="row end">
        <ActionButton action={trash} onClick={trash.run} class="danger">
          {trash.busy ? 'Moving…' : 'Move to trash'}
        </ActionButton>
      </div>
    </>
  )
}

/** A file in the trash. */
function Trashed({ file, onChange }: { file: UserFile; onChange: OnChange }) {
  const params = { id: file.id }
  const restore = useAction(async () => {
    await turnpike.post('/api/user-files/{id}/restore', { params })
    onChange(`${file.display_name} is back among the files.`)
  })
  const remove = useAction(async () => {
    await turnpike.delete('/api/user-files/{id}', { params, query: { permanent: 'true' } })
    onChange(`${file.display_name} is removed for good.`)
  })
  const error = restore.error ?? remove.error
  return (
    <>
      <p>In the trash, its links do not work. It takes space until it is removed for good.</p>
      <FileFacts file={file} />
      <ErrorNotice error={error} />
      <div class="row end">
        <ConfirmButton action={remove} label="Remove for good" busy="Removing…" title="Remove for good?">
          <p class="break">
            {file.display_name} ({bytes(file.size_bytes)}) will be gone. Nobody can take that back.
          </p>
        </ConfirmButton>
        <ActionButton action={restore} onClick={restore.run} class="primary">
          {restore.busy ? 'Restoring…' : 'Restore'}
        </ActionButton>
      </div>
    </>
  )
}

/** A file with what can be done with it. */
export function FileDrawer({ id, name, ...drawer }: RowDrawerProps) {
  // Read when it is opened: the URL of a private file is good for an hour only.
  const data = useData((signal) => turnpike.get('/api/user-files/{id}', { params: { id }, signal }), [id])
  return (
    <RowDrawer title={data.value?.display_name ?? name} data={data} {...drawer}>
      {(file, onChange) =>
        file.deleted_at === null ? (
          <Details file={file} onChange={onChange} />
        ) : (
          <Trashed file={file} onChange={onChange} />
        )
      }
    </RowDrawer>
  )
}

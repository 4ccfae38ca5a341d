import './attachments.css'
import { bytes, Dialog, Empty, FileInput, Icon, icons, Loaded, Menu, useData, visible } from '@turnpike/ui'
import { useRef, useState } from 'preact/hooks'
import { FileLinks } from '../files/file-links.js'
import { attachFault } from '../files/file-kinds.js'
import { Preview } from '../files/preview.js'
import type { FileInfo } from '../files/thumbnail.js'
import { Thumbnail } from '../files/thumbnail.js'
import { turnpike } from '../turnpike.js'
import { PagedList, usePages } from '../use-pages.js'
import { attach, attaching, attachUploads, detach, giveUp, MOST_FILES } from './attaching.js'
import { unsentOf } from './unsent.js'

/** A message, as a path has it: whoever may read it may read its files, whosever they are. */
interface MessageParams {
  id: string
  messageId: string
}

const readFile = (of: MessageParams, fileId: string, signal: AbortSignal) =>
  turnpike.get('/api/projects/{id}/conversation/messages/{messageId}/files/{fileId}', {
    params: { ...of, fileId },
    signal,
  })

/** A file of a message. */
function AttachedFile({
  of,
  file: { id, display_name },
  onClose,
}: {
  of: MessageParams
  file: FileInfo
  onClose: () => void
}) {
  // Read when it is opened: the URL of a private file is good for an hour only.
  const data = useData((signal) => readFile(of, id, signal), [id])
  return (
    <Dialog title={visible(display_name)} onClose={onClose}>
      <Loaded data={data}>
        {(file) => (
          <>
            <Preview file={file} />
            <FileLinks file={file} />
          </>
        )}
      </Loaded>
    </Dialog>
  )
}

/** The files of a message; each is opened by a press. */
export function Attachments({ files, of }: { files: readonly FileInfo[]; of: MessageParams }) {
  const [opened, setOpened] = useState<FileInfo>()
  return (
    <>
      <ul class="attachments" aria-label="Attached files">
        {files.map((file) => (
          <li key={file.id}>
            <button type="button" class="attachment" onClick={() => setOpened(file)}>
              <Thumbnail file={file} read={(signal) => readFile(of, file.id, signal)} />
              <span class="name">{visible(file.display_name)}</span>
              <span class="small muted">{bytes(file.size_bytes)}</span>
            </button>
          </li>
        ))}
      </ul>
      {opened && <AttachedFile key={opened.id} of={of} file={opened} onClose={() => setOpened(undefined)} />}
    </>
  )
}

const Remove = ({ name, onClick }: { name: string; onClick: () => void }) => (
  <button type="button" class="quiet" aria-label={`Remove ${name}`} onClick={onClick}>
    <Icon icon={icons.Close} size={14} />
  </button>
)

/** The files that are attached to what is typed in a field, and those on their way. */
export function Attached({ field }: { field: string }) {
  const attached = unsentOf(field)?.attached ?? []
  const coming = attaching.value.filter((one) => one.field === field)
  if (attached.length + coming.length === 0) return null
  return (
    <ul class="attachments" aria-label="Files to send">
      {attached.map((file) => (
        <li key={file.id} class="attachment">
          <Thumbnail file={file} />
          <span class="name">{visible(file.display_name)}</span>
          <span class="small muted">{bytes(file.size_bytes)}</span>
          <Remove name={file.display_name} onClick={() => detach(field, file.id)} />
        </li>
      ))}
      {coming.map((one) => (
        <li key={one.id} class="attachment">
          <span class="name">{one.name}</span>
          {one.fault === undefined ? (
            <progress class="progress" aria-label={`Upload of ${one.name}`} value={one.share} />
          ) : (
            <span class="small fault" role="alert">
              {one.fault}
            </span>
          )}
          <Remove name={one.name} onClick={() => giveUp(one)} />
        </li>
      ))}
    </ul>
  )
}

/** The files of the user, to attach some of them. */
function ChooseFiles({ field, onClose }: { field: string; onClose: () => void }) {
  const pages = usePages((page, signal) =>
    turnpike.list('/api/user-files', { query: { ...page, trashed: 'false' }, signal }),
  )
  const attached = unsentOf(field)?.attached ?? []
  return (
    <Dialog title="Attach files" onClose={onClose}>
      <PagedList pages={pages} name="file" empty={<Empty title="No files yet" />}>
        {(files) => (
          <ul class="choices">
            {files.map((file) => {
              const isAttached = attached.some(({ id }) => id === file.id)
              const fault = attachFault(file)
              const isOff = fault !== undefined || (!isAttached && attached.length >= MOST_FILES)
              return (
                <li key={file.id}>
                  <label>
                    <input
                      type="checkbox"
                      checked={isAttached}
                      disabled={isOff}
                      onChange={() => (isAttached ? detach(field, file.id) : attach(field, file))}
                    />
                    <span class="name">{visible(file.display_name)}</span>
                    <span class="small muted">{fault ?? bytes(file.size_bytes)}</span>
                  </label>
                </li>
              )
            })}
          </ul>
        )}
      </PagedList>
      <div class="row end">
        <button type="button" class="primary" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  )
}

/** The button that attaches files to what is typed in a field. */
export function Attach({ field }: { field: string }) {
  const input = useRef<HTMLInputElement>(null)
  const [isChoosing, setChoosing] = useState(false)
  return (
    <>
      <Menu
        label={<Icon icon={icons.Attach} />}
        name="Attach files"
        busy={false}
        options={[
          ['upload', 'Upload from this device'],
          ['files', 'Choose from your files'],
        ]}
        onChoose={(option) => (option === 'upload' ? input.current!.click() : setChoosing(true))}
      />
      <FileInput input={input} onFiles={(files) => attachUploads(field, files)} />
      {isChoosing && <ChooseFiles field={field} onClose={() => setChoosing(false)} />}
    </>
  )
}

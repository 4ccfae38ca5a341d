import type { Column, OnChange } from '@turnpike/ui'
import {
  Ago,
  Bar,
  bytes,
  Empty,
  FileInput,
  Loaded,
  Page,
  route,
  RowLink,
  Segmented,
  setQuery,
  useChanges,
  useData,
  visible,
} from '@turnpike/ui'
import { useEffect, useRef } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import { BYTES_PER_GB } from '../units.js'
import { PagedTable, useAgain, usePages } from '../use-pages.js'
import type { UserFile } from './file-drawer.js'
import { FileDrawer } from './file-drawer.js'
import { UploadList } from './upload-list.js'
import { useDrop } from './use-drop.js'
import { ended, forgetUploaded, upload, uploaded } from './uploads.js'

/** How much of the user's space is used. */
function Space({ changes }: { changes: number }) {
  const data = useData((signal) => turnpike.get('/api/account/limits', { signal }), [])
  useAgain(data, changes)
  return (
    <Loaded data={data} shape="text">
      {({ storage_bytes_used: used, storage_gb }) => (
        <div class="space small muted">
          {bytes(used)} of {bytes(storage_gb * BYTES_PER_GB)} used, with the trash.
          <Bar share={used / (storage_gb * BYTES_PER_GB)} />
        </div>
      )}
    </Loaded>
  )
}

/** The files of the user, or those in the trash. */
function FileList({ isTrash, changes, onChange }: { isTrash: boolean; changes: number; onChange: OnChange }) {
  const pages = usePages((page, signal) =>
    turnpike.list('/api/user-files', { query: { ...page, trashed: isTrash ? 'true' : 'false' }, signal }),
  )
  useAgain(pages, changes)
  const openedId = route.value.query.get('id')
  const open = (id?: string): void => setQuery({ id })
  const columns: Column<UserFile>[] = [
    {
      name: 'Name',
      cell: (file) => (
        <>
          <RowLink open={() => open(file.id)}>{visible(file.display_name)}</RowLink>
          {uploaded.value.some(({ id }) => id === file.id) && <span class="badge accent new">new</span>}
        </>
      ),
    },
    { name: 'Read by', cell: (file) => (file.is_public ? <span class="badge amber">anybody</span> : 'you') },
    { name: 'Size', number: true, cell: (file) => bytes(file.size_bytes) },
    {
      name: isTrash ? 'Removed' : 'Added',
      number: true,
      cell: (file) => <Ago at={file.deleted_at ?? file.created_at} />,
    },
  ]
  return (
    <section class="panel files" aria-label={isTrash ? 'Trash' : 'Files'}>
      <PagedTable
        caption={isTrash ? 'Files in the trash' : 'Files'}
        columns={columns}
        pages={pages}
        name="file"
        empty={
          isTrash ? (
            <Empty title="The trash is empty">
              <p>Files that you move here can be restored for 30 days.</p>
            </Empty>
          ) : (
            <Empty title="No files yet" shape="rows">
              <p>Drop files here, or choose them with Upload. Nobody else can read them until you share a link.</p>
            </Empty>
          )
        }
      />
      {openedId !== null && (
        <FileDrawer
          key={openedId}
          id={openedId}
          name={pages.value?.items.find(({ id }) => id === openedId)?.display_name ?? 'File'}
          onClose={() => open()}
          onChange={onChange}
        />
      )}
    </section>
  )
}

export function Files() {
  const isTrash = route.value.query.get('show') === 'trash'
  const input = useRef<HTMLInputElement>(null)
  const { isOver, handlers } = useDrop(upload)
  const { count, notice, onChange, clearNotice } = useChanges()
  const changes = count + ended.value
  useEffect(() => () => forgetUploaded(), [])
  return (
    <div class={isOver ? 'over' : ''} {...handlers}>
      {isOver && <p class="drop-hint">Drop to upload</p>}
      <Page
        title="Files"
        actions={
          <>
            <Segmented
              label="Shown"
              options={[
                ['', 'Files'],
                ['trash', 'Trash'],
              ]}
              value={isTrash ? 'trash' : ''}
              onChange={(show) => {
                clearNotice()
                setQuery({ show })
              }}
            />
            <button type="button" class="primary" onClick={() => input.current!.click()}>
              Upload
            </button>
            <FileInput input={input} onFiles={upload} />
          </>
        }
      >
        <Space changes={changes} />
        {notice}
        <UploadList />
        <FileList key={String(isTrash)} isTrash={isTrash} changes={changes} onChange={onChange} />
      </Page>
    </div>
  )
}

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Data } from '../use-data.js'
import { Announcement } from './announcement.js'
import { Dialog } from './dialog.js'
import { Loaded } from './loaded.js'

/** Called when a row of a list was changed. @param done what was done with it, if it is not in the list any more */
export type OnChange = (done?: string) => void

/** The changes of the rows of a page: how many there were, for `useAgain`, and a notice of what the last one has done. */
export function useChanges() {
  const [{ count, done }, set] = useState<{ count: number; done?: string | undefined }>({ count: 0 })
  const onChange: OnChange = (done) => set(({ count }) => ({ count: count + 1, done }))
  return {
    count,
    notice: done !== undefined && (
      <Announcement key={count}>
        <p class="break">{done}</p>
      </Announcement>
    ),
    onChange,
    clearNotice: () => set(({ count }) => ({ count })),
  }
}

/** What opens a row of a list in a drawer. */
export interface RowDrawerProps {
  id: string
  /** What the list calls it. */
  name: string
  onChange: OnChange
  onClose: () => void
}

/** A row of a list in a drawer, which is read again when it was changed, and closed when it is not in the list any more. */
export function RowDrawer<Row>({
  title,
  data,
  onChange,
  onClose,
  children,
}: Pick<RowDrawerProps, 'onChange' | 'onClose'> & {
  title: string
  data: Data<Row>
  children: (row: Row, onChange: OnChange) => ComponentChildren
}) {
  const changed: OnChange = (done) => {
    if (done === undefined) data.again()
    else onClose()
    onChange(done)
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <Loaded data={data}>{(row) => children(row, changed)}</Loaded>
    </Dialog>
  )
}

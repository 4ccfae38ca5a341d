import type { Page } from '@turnpike/client'
import type { Data } from '@turnpike/ui'
import { useData } from '@turnpike/ui'
import { useEffect, useRef, useState } from 'preact/hooks'

/** How many rows a page of a list has. */
export const PAGE = 50

/** The pages of a list that are shown. */
export interface Pages<T> extends Data<Page<T>> {
  /** Shows one more. */
  more: () => void
}

/** Reads a page of a list. */
type ReadPage<T> = (after: string | undefined, signal: AbortSignal) => Promise<Page<T>>

/** Reads a list from its beginning. @param most most pages @param onPage called with what was read so far */
async function readPages<T>(
  read: ReadPage<T>,
  signal: AbortSignal,
  most: number,
  onPage?: (all: Page<T>) => void,
): Promise<Page<T>> {
  let all: Page<T> = { items: [], next: undefined }
  for (let page = 0; page < most; page++) {
    const { items, next } = await read(all.next, signal)
    all = { items: [...all.items, ...items], next }
    onPage?.(all)
    if (next === undefined) break
  }
  return all
}

/** Reads the first page of a list, then as many as are asked for; `again` reads all of these again. */
export function usePages<T>(read: ReadPage<T>): Pages<T> {
  const shown = useRef(1)
  const data = useData((signal) => readPages(read, signal, shown.current), [])
  const more = (): void => {
    shown.current++
    data.again()
  }
  return { ...data, more }
}

/** Reads a whole list, every `everyMs` again. Until it has been read once, the value is what has come so far. */
export function useWhole<T>(read: ReadPage<T>, everyMs: number): Data<Page<T>> {
  const [begun, setBegun] = useState<Page<T>>()
  const data = useData((signal) => readPages(read, signal, Infinity, setBegun), [], everyMs)
  return { ...data, value: data.value ?? begun }
}

/** Reads data again whenever something was changed. @param changes how often that was */
export function useAgain({ again }: Pick<Data<unknown>, 'again'>, changes: number): void {
  const known = useRef(changes)
  useEffect(() => {
    if (changes !== known.current) again()
    known.current = changes
  }, [changes])
}

/** How many rows are shown, and the button for more. @param things such as `files` */
export function More<T>({ pages: { value, reading, more }, things }: { pages: Pages<T>; things: string }) {
  const said = useRef<HTMLSpanElement>(null)
  const asked = useRef(false)
  const isLast = value?.next === undefined
  useEffect(() => {
    // The button, which had the focus, is gone.
    if (isLast && asked.current) said.current!.focus()
  }, [isLast])
  const count = value?.items.length ?? 0
  const counted = `${count} ${count === 1 ? things.replace(/s$/, '') : things}`
  return (
    <div class="spread foot">
      <span ref={said} class="muted small" role="status" tabIndex={-1}>
        {isLast ? counted : `The first ${counted}`}
      </span>
      {!isLast && (
        <button
          type="button"
          aria-disabled={reading}
          onClick={() => {
            if (reading) return
            asked.current = true
            more()
          }}
        >
          {reading ? 'Loading…' : 'Show more'}
        </button>
      )}
    </div>
  )
}

import type { Page } from '@turnpike/client'
import type { Data } from '@turnpike/ui'
import { useData } from '@turnpike/ui'
import { useEffect, useRef } from 'preact/hooks'

/** How many rows a page of a list has. */
export const PAGE = 50

/** The pages of a list that are shown. */
export interface Pages<T> extends Data<Page<T>> {
  /** Shows one more. */
  more: () => void
}

/** Reads the first page of a list, then as many as are asked for; `again`, and every `everyMs`, reads all of these again. */
export function usePages<T>(
  read: (after: string | undefined, signal: AbortSignal) => Promise<Page<T>>,
  everyMs?: number,
): Pages<T> {
  const shown = useRef(1)
  const data = useData(
    async (signal) => {
      const all: Page<T> = { items: [], next: undefined }
      for (let page = 0; page < shown.current; page++) {
        const { items, next } = await read(all.next, signal)
        all.items.push(...items)
        all.next = next
        if (next === undefined) break
      }
      return all
    },
    [],
    everyMs,
  )
  const more = (): void => {
    shown.current++
    data.again()
  }
  return { ...data, more }
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

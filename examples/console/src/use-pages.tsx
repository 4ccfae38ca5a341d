import type { Page } from '@turnpike/client'
import type { Column, Data } from '@turnpike/ui'
import { Loaded, plural, Table, useData } from '@turnpike/ui'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** How many rows a page of a list has. */
export const PAGE = 50

/** The pages of a list that are shown. */
export interface Pages<T> extends Data<Page<T>> {
  /** Shows one more. */
  more: () => void
}

/** What a page is asked for by, as the fields of a query. */
interface PageQuery {
  limit: number
  after?: string
}

/** Reads a page of a list. @param known the same page, as it was read before */
type ReadPage<T> = (page: PageQuery, signal: AbortSignal, known?: Page<T>) => Promise<Page<T>>

/** Some pages of a list as one, with the first of them: where that has not changed, by its version, neither have the others. */
interface Read<T> extends Page<T> {
  first: Page<T> | undefined
}

/** Reads a list from its beginning. @param most most pages @param known what was read before @param onPage called with what was read so far */
async function readPages<T>(
  read: ReadPage<T>,
  signal: AbortSignal,
  { limit, most, known, onPage }: { limit: number; most: number; known?: Read<T>; onPage?: (all: Page<T>) => void },
): Promise<Read<T>> {
  let all: Read<T> = { items: [], next: undefined, first: undefined }
  for (let count = 0; count < most; count++) {
    const query = { limit, ...(all.next !== undefined && { after: all.next }) }
    const page = await read(query, signal, count === 0 ? known?.first : undefined)
    if (known && page === known.first) return known
    all = { items: [...all.items, ...page.items], next: page.next, first: all.first ?? page }
    onPage?.(all)
    if (page.next === undefined) break
  }
  return all
}

/**
 * Reads the first page of a list, then as many as are asked for; `again` reads all of these again.
 * @param limit rows of a page; default {@link PAGE}
 */
export function usePages<T>(read: ReadPage<T>, { limit = PAGE }: { limit?: number } = {}): Pages<T> {
  const shown = useRef(1)
  const data = useData((signal) => readPages(read, signal, { limit, most: shown.current }), [])
  const more = (): void => {
    shown.current++
    data.again()
  }
  return { ...data, more }
}

/**
 * Reads a whole list, and every `everyMs` again. Until it has been read once, the value is what has come so far.
 * @param limit rows of a page
 */
export function useWhole<T>(read: ReadPage<T>, { limit, everyMs }: { limit: number; everyMs: number }): Data<Page<T>> {
  const [begun, setBegun] = useState<Page<T>>()
  const data = useData<Read<T>>(
    (signal, known) => readPages(read, signal, { limit, most: Infinity, ...(known && { known }), onPage: setBegun }),
    [],
    everyMs,
  )
  return { ...data, value: data.value ?? begun }
}

/** Reads data again whenever `version` is another one: what was changed, or how often. */
export function useAgain({ again }: Pick<Data<unknown>, 'again'>, version: unknown): void {
  const known = useRef(version)
  useEffect(() => {
    if (version !== known.current) again()
    known.current = version
  }, [version])
}

/** How many rows are shown, and the button for more. */
function More<T>({ pages: { value, reading, more }, name }: { pages: Pages<T>; name: string }) {
  const counted = useRef<HTMLSpanElement>(null)
  const wasAsked = useRef(false)
  const isLast = value?.next === undefined
  useEffect(() => {
    // The button, which had the focus, is gone.
    if (isLast && wasAsked.current) counted.current!.focus()
  }, [isLast])
  const rows = plural(value?.items.length ?? 0, name)
  return (
    <div class="spread foot">
      <span ref={counted} class="muted small" role="status" tabIndex={-1}>
        {isLast ? rows : `The first ${rows}`}
      </span>
      {!isLast && (
        <button
          type="button"
          aria-disabled={reading}
          onClick={() => {
            if (reading) return
            wasAsked.current = true
            more()
          }}
        >
          {reading ? 'Loading…' : 'Show more'}
        </button>
      )}
    </div>
  )
}

interface PagedListProps<T> {
  pages: Pages<T>
  /** Of a row, such as `file`. */
  name: string
  /** What is shown where there is no row. */
  empty: ComponentChildren
}

/** The pages of a list that are shown, and the button for more. */
export const PagedList = <T,>({
  pages,
  name,
  empty,
  children,
}: PagedListProps<T> & { children: (rows: readonly T[]) => ComponentChildren }) => (
  <Loaded data={pages}>
    {({ items }) =>
      items.length === 0 ? (
        empty
      ) : (
        <>
          {children(items)}
          <More pages={pages} name={name} />
        </>
      )
    }
  </Loaded>
)

/** A {@link PagedList} as a table. @param caption what it shows, for screen readers */
export const PagedTable = <Row extends { id: string }>({
  caption,
  columns,
  ...list
}: PagedListProps<Row> & { caption: string; columns: readonly Column<Row>[] }) => (
  <PagedList {...list}>
    {(rows) => <Table caption={caption} columns={columns} rows={rows} rowKey={({ id }) => id} />}
  </PagedList>
)

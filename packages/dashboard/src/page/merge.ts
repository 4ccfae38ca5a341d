/** A page of one list, newest first. */
export interface MergePage<Row> {
  rows: Row[]
  next: string | undefined
}

/** A list that is read page by page, newest first. */
export type Source<Row> = (after: string | undefined) => Promise<MergePage<Row>>

interface Reading<Row> {
  read: Source<Row>
  next: string | undefined
  /** The time of the oldest row that was read; undefined before the first page. */
  oldest: string | undefined
  done: boolean
}

/**
 * Reads several lists as one, newest first. A row is given once no list can have a newer one that was not read.
 * @param most rows of one page of a list, about as many as {@link more} adds
 */
export function mergeOf<Row>(sources: Source<Row>[], timeOf: (row: Row) => string, most: number) {
  const lists: Reading<Row>[] = sources.map((read) => ({ read, next: undefined, oldest: undefined, done: false }))
  let rows: Row[] = []
  let given = 0
  const readNext = async (list: Reading<Row>): Promise<void> => {
    const page = await list.read(list.next)
    rows.push(...page.rows)
    list.next = page.next
    list.done = page.next === undefined
    const last = page.rows.at(-1)
    if (last !== undefined) list.oldest = timeOf(last)
  }
  return {
    /** Reads on. @returns all rows so far, and whether there are more */
    async more(): Promise<{ rows: Row[]; more: boolean }> {
      for (;;) {
        const open = lists.filter(({ done }) => !done)
        // What was not read of these is older than their oldest.
        const edge = open.reduce(
          (edge, { oldest }) => (oldest === undefined || oldest > edge ? (oldest ?? '~') : edge),
          '',
        )
        rows = rows.toSorted((a, b) => (timeOf(a) < timeOf(b) ? 1 : timeOf(a) > timeOf(b) ? -1 : 0))
        const complete = rows.filter((row) => timeOf(row) >= edge)
        if (open.length === 0 || complete.length >= given + most) {
          given = complete.length
          return { rows: complete, more: open.length > 0 }
        }
        await Promise.all(open.filter(({ oldest }) => (oldest ?? '~') === edge).map(readNext))
      }
    },
  }
}

import type { Data } from '@turnpike/ui'
import { useData } from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { read } from './api.js'

/** Rows that were read so far. */
export interface Rows<Row> {
  rows: Row[]
  /** Whether there are more than were read. */
  cut: boolean
}

/** Most rows that the dashboard reads of a list. */
const MOST = 10_000

/** Rows of the first page, so that there is something to see soon, and of the others. */
const [FIRST, OTHERS] = [50, 500]

/** A page of a list of the gateway. */
interface Page<Row> {
  data: Row[]
  next?: string
}

/** Reads a list page by page. @param onRows called with the rows so far, after each page but the last */
async function readAll<Row>(path: string, signal: AbortSignal, onRows: (rows: Rows<Row>) => void): Promise<Rows<Row>> {
  const rows: Row[] = []
  for (let after: string | undefined; ;) {
    const page = after === undefined ? `limit=${FIRST}` : `limit=${OTHERS}&after=${encodeURIComponent(after)}`
    const { data, next } = await read<Page<Row>>(`${path}${path.includes('?') ? '&' : '?'}${page}`, signal)
    rows.push(...data)
    if (next === undefined || rows.length >= MOST) return { rows, cut: next !== undefined }
    onRows({ rows: [...rows], cut: true })
    after = next
  }
}

/** All rows of a list, at most 10,000; while they are read, those so far. @param path below `admin/`, without `limit` and `after` */
export function useRows<Row>(path: string): Data<Rows<Row>> {
  const [partial, setPartial] = useState<Rows<Row>>()
  const data = useData(
    (signal) => {
      setPartial(undefined)
      return readAll<Row>(path, signal, (rows) => signal.aborted || setPartial(rows))
    },
    [path],
  )
  return { ...data, value: data.value ?? partial }
}

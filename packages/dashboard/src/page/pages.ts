import { read } from './data.js'

/** Rows that were read so far. */
export interface Rows<Row> {
  rows: Row[]
  /** Whether there are more than were read. */
  cut: boolean
}

/** Most rows that the dashboard reads of a list. */
const MOST = 10_000

/** Reads a list page by page. @param onRows called with the rows so far, after each page but the last */
export async function readPages<Row, Answer extends { data: Row[]; next?: string }>(
  path: string,
  signal: AbortSignal,
  onRows?: (rows: Rows<Row>) => void,
): Promise<Rows<Row>> {
  const rows: Row[] = []
  for (let after = ''; ;) {
    const { data, next } = await read<Answer>(after ? `${path}&after=${encodeURIComponent(after)}` : path, signal)
    rows.push(...data)
    if (next === undefined || rows.length >= MOST) return { rows, cut: next !== undefined }
    onRows?.({ rows: [...rows], cut: true })
    after = next
  }
}

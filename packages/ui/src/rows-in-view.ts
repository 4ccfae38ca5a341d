import type { RefObject } from 'preact'
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Rows that are drawn before they are measured, those beyond the edges, and by how many the part moves. */
const [FIRST, BEYOND, STEP] = [40, 10, 10]

/** The part of many rows that is drawn. */
export interface RowsInView {
  /** Which rows: from the first to before the second. */
  from: number
  to: number
  /** Pixels that the rows before and after it take. */
  before: number
  after: number
  /** Brings a row into view, so that it is drawn. */
  show: (index: number) => void
}

/**
 * The part of many rows of about one height that is in view, so that only those are drawn.
 * @param place what scrolls, with the drawn rows as `tr[data-index]`
 * @param all whether all are drawn, whatever is in view
 */
export function useRowsInView(place: RefObject<HTMLElement | null>, count: number, all: boolean): RowsInView {
  const [from, setFrom] = useState(0)
  const [most, setMost] = useState(FIRST)
  const height = useRef(0)

  const measure = useCallback(() => {
    const rows = place.current!.querySelectorAll<HTMLElement>('tr[data-index]')
    const [first, last] = [rows[0], rows[rows.length - 1]]
    if (first && last)
      height.current = (last.getBoundingClientRect().bottom - first.getBoundingClientRect().top) / rows.length
    if (height.current === 0) return
    const { scrollTop, clientHeight } = place.current!
    const start = Math.floor(scrollTop / height.current) - BEYOND
    setFrom(Math.max(0, start - (start % STEP)))
    setMost(Math.ceil(clientHeight / height.current) + 2 * BEYOND + STEP)
  }, [])

  useLayoutEffect(() => {
    if (all) return
    const element = place.current!
    measure()
    let frame = 0
    const onScroll = (): void => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(measure)
    }
    const size = new ResizeObserver(onScroll)
    size.observe(element)
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      cancelAnimationFrame(frame)
      size.disconnect()
      element.removeEventListener('scroll', onScroll)
    }
  }, [all])

  const show = useCallback((index: number) => {
    const { scrollTop, clientHeight } = place.current!
    const top = index * height.current
    // Room for the head of the table, and for the row.
    if (top < scrollTop) place.current!.scrollTop = top
    else if (top > scrollTop + clientHeight - 3 * height.current)
      place.current!.scrollTop = top - clientHeight + 3 * height.current
    measure()
  }, [])

  if (all) return { from: 0, to: count, before: 0, after: 0, show: () => undefined }
  const start = Math.min(from, Math.max(0, count - most))
  const to = Math.min(count, start + most)
  return { from: start, to, before: start * height.current, after: (count - to) * height.current, show }
}

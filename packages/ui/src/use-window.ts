import type { RefObject } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

/** Rows beyond what is seen that are drawn on each side, and by how many the first one changes at a time. */
const MARGIN = 4
const STEP = 4

/** The rows of a long list that are drawn. */
export interface Windowed {
  /** Their indexes, ascending. */
  indexes: readonly number[]
  /** Height of a row in pixels; 0 until one was drawn. */
  row: number
}

/**
 * Draws of a long list only the rows that are seen, wherever it is scrolled. All have the same height. The list is as high as all of them
 * (`count * row`), and each is at `index * row` in it and has its index as `data-index`. What has the focus is drawn always.
 * @param list the element that has the rows
 * @param count how many rows there are
 * @param wanted index of another one that is to be drawn, such as to give it the focus
 */
export function useWindow(list: RefObject<HTMLElement | null>, count: number, wanted = -1): Windowed {
  const [{ from, to, row, focused }, set] = useState({ from: 0, to: 1, row: 0, focused: -1 })
  useLayoutEffect(() => {
    const look = (): void => {
      const one = list.current?.querySelector<HTMLElement>('[data-index]')
      if (!one) return
      const row = one.getBoundingClientRect().height
      const { top } = list.current!.getBoundingClientRect()
      const first = row && Math.max(0, Math.floor((-top / row - MARGIN) / STEP) * STEP)
      const last = row && Math.ceil(((innerHeight - top) / row + MARGIN) / STEP) * STEP
      const inside = list.current!.contains(document.activeElement) ? document.activeElement : null
      const focused = Number(inside?.closest<HTMLElement>('[data-index]')?.dataset['index'] ?? -1)
      const seen = { from: first, to: Math.max(last, first + 1), row, focused }
      set((state) =>
        state.from === seen.from && state.to === seen.to && state.row === row && state.focused === focused
          ? state
          : seen,
      )
    }
    look()
    addEventListener('resize', look)
    // Whatever scrolls: the page, or an element around the list.
    document.addEventListener('scroll', look, { capture: true, passive: true })
    return () => {
      removeEventListener('resize', look)
      document.removeEventListener('scroll', look, { capture: true })
    }
  })
  const indexes = new Set<number>()
  for (const index of [focused, wanted]) if (index >= 0 && index < count) indexes.add(index)
  for (let index = Math.min(from, count - 1); index < Math.min(to, count); index++) if (index >= 0) indexes.add(index)
  return { indexes: [...indexes].toSorted((a, b) => a - b), row }
}

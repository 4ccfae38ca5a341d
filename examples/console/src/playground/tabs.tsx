import { signal } from '@preact/signals'

const query = matchMedia('(max-width: 60rem)')
const narrow = signal(query.matches)
query.addEventListener('change', () => (narrow.value = query.matches))

/** Whether the window has room for one part of the page only. */
export const useNarrow = (): boolean => narrow.value

/** An id, and what it is called. */
export type Part = readonly [id: string, name: string]

/** What makes an element the panel of a tab or, where there is room for all, a part of its own. */
export const panelOf = (id: string, name: string, isTab: boolean, current: string) =>
  isTab
    ? ({ id: `part-${id}`, role: 'tabpanel', 'aria-labelledby': `tab-${id}`, hidden: id !== current } as const)
    : { id: `part-${id}`, 'aria-label': name }

/** Tabs, of which arrow keys choose. */
export function Tabs({
  parts,
  value,
  onChange,
}: {
  parts: readonly Part[]
  value: string
  onChange: (id: string) => void
}) {
  const at = parts.findIndex(([id]) => id === value)
  const move = (event: KeyboardEvent): void => {
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key]
    if (next === undefined) return
    event.preventDefault()
    const [id] = parts.at(next % parts.length)!
    onChange(id)
    document.getElementById(`tab-${id}`)!.focus()
  }
  return (
    <div role="tablist" aria-label="Parts" onKeyDown={move}>
      {parts.map(([id, name]) => (
        <button
          key={id}
          type="button"
          role="tab"
          id={`tab-${id}`}
          aria-controls={`part-${id}`}
          aria-selected={id === value}
          tabIndex={id === value ? 0 : -1}
          onClick={() => onChange(id)}
        >
          {name}
        </button>
      ))}
    </div>
  )
}

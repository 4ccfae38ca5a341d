import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { store, stored } from './stored.js'
import { afterKey, isApple, keyNames, keyOf } from './shortcut-keys.js'

/** Keys that do something on the page. */
export interface Shortcut {
  /** `n`; `g p` = one after the other; `mod+k` = with ⌘ or Ctrl. */
  keys: string
  /** What they do, as the list of shortcuts says it. */
  name: string
  run: () => void
  /** Whether they do it while a dialog is open, too. */
  inDialog: boolean
}

/** Milliseconds in which the next key follows. */
const NEXT_MS = 1_000

/** The shortcuts of what is shown. */
export const shortcuts = signal<readonly Shortcut[]>([])

const apple = isApple(navigator.platform)

/** The keys of a shortcut by their names on this machine: of `mod+k`, `Ctrl` and `K`. */
export const namesOf = (keys: string): string[] => keyNames(keys, apple)

/** Whether keys without ⌘ or Ctrl do anything: they disturb who speaks to the machine. */
export const singleKeys = signal(stored('shortcuts') !== 'off')

export function setSingleKeys(on: boolean): void {
  singleKeys.value = on
  store('shortcuts', on ? undefined : 'off')
}

/**
 * Runs something by keys while the component is shown; where two have the same keys, the one that came last. Keys without ⌘ or Ctrl do nothing while
 * somebody types.
 * @param keys as {@link Shortcut} has them
 * @param name what they do: `New project`; undefined = nothing
 * @param options.inDialog whether they do it while a dialog is open; default no
 */
export function useShortcut(
  keys: string,
  name: string | undefined,
  run: () => void,
  { inDialog = false }: { inDialog?: boolean } = {},
): void {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    if (name === undefined) return undefined
    const own: Shortcut = { keys, name, run: () => latest.current(), inDialog }
    shortcuts.value = [...shortcuts.peek(), own]
    return () => (shortcuts.value = shortcuts.peek().filter((one) => one !== own))
  }, [keys, name, inDialog])
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('textarea, select, input:not([type=checkbox], [type=radio])'))

let begun = ''
let begunAt = 0

addEventListener('keydown', (event) => {
  const key = keyOf(event, apple)
  if (
    event.defaultPrevented ||
    event.isComposing ||
    key === undefined ||
    ['Shift', 'Control', 'Meta'].includes(event.key)
  )
    return
  if (!key.startsWith('mod+') && (!singleKeys.value || isTyping(event.target))) return
  const isInDialog = document.querySelector('dialog:modal') !== null
  const usable = shortcuts.value.filter(({ inDialog }) => inDialog || !isInDialog)
  const before = Date.now() - begunAt < NEXT_MS ? begun : ''
  const next = afterKey(
    key,
    before,
    usable.map(({ keys }) => keys),
  )
  begun = 'begun' in next ? next.begun : ''
  begunAt = Date.now()
  if ('begun' in next) return
  event.preventDefault()
  usable[next.index]!.run()
})

import { signal } from '@preact/signals'
import type { Entry } from '@turnpike/ui'
import { ErrorNotice, Icon, icons, KeyCaps, useData, useShortcut } from '@turnpike/ui'
import type { User } from '../turnpike.js'

/** Which opening of the search is shown; 0 = none. */
const shown = signal(0)
let openings = 0
const open = (): void => void (shown.value = ++openings)

/** Opens the search. */
export const SearchButton = () => (
  <button type="button" class="side-button" aria-haspopup="dialog" onClick={open}>
    <Icon icon={icons.Search} />
    <span class="muted">Search</span>
    <KeyCaps keys="mod+k" />
  </button>
)

/** The same, where there is room for an icon alone. */
export const SearchIcon = () => (
  <button type="button" class="quiet" aria-label="Search" aria-haspopup="dialog" onClick={open}>
    <Icon icon={icons.Search} size={20} />
  </button>
)

/** The search, which is loaded after the page, so that it is there when keys are pressed. @param pages those of the user */
export function Search(props: { user: User; pages: readonly Entry[] }) {
  useShortcut('mod+k', 'Search', open)
  const { value, error, again } = useData(() => import('./palette.js'), [])
  const own = shown.value
  if (own === 0) return null
  if (!value) return <ErrorNotice error={error} again={again} />
  // The dialog tells some time after it was closed, when it may have been opened again.
  return <value.Palette key={own} {...props} onClose={() => shown.value === own && (shown.value = 0)} />
}

import { signal } from '@preact/signals'
import type { Entry } from '@turnpike/ui'
import { ErrorNotice, Icon, icons, KeyCaps, useData, useShortcut } from '@turnpike/ui'
import type { User } from '../turnpike.js'

const isOpen = signal(false)
const open = (): void => void (isOpen.value = true)

/** Opens the search. */
export const SearchButton = () => (
  <button type="button" class="side-button" aria-label="Search" aria-haspopup="dialog" onClick={open}>
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

interface SearchProps {
  user: User
  /** The pages of the user. */
  pages: readonly Entry[]
}

function Opened(props: SearchProps) {
  const { value, error, again } = useData(() => import('./palette.js'), [])
  return value ? (
    <value.Palette {...props} onClose={() => (isOpen.value = false)} />
  ) : (
    <ErrorNotice error={error} again={again} />
  )
}

/** The search, which is loaded when it is first opened. */
export function Search(props: SearchProps) {
  useShortcut('mod+k', 'Search', open)
  return isOpen.value ? <Opened {...props} /> : null
}

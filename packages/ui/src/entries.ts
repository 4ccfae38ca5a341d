import type { IconNode } from 'lucide'
import type { ComponentType } from 'preact'

/** A page that the navigation leads to. */
export interface Entry {
  /** What its addresses begin with, such as `/projects`; what follows that is the page's own. */
  path: string
  name: string
  icon: IconNode
  page: ComponentType
  /** The part of the navigation that it is in. */
  section?: string
  /** Whether the navigation leaves it out, as something else leads to it; default no. */
  unlisted?: boolean
  /** The shortcut that leads to it, such as `g p`. */
  keys?: string
}

/** The entry that an address belongs to: the one with the longest path. */
export const entryAt = <E extends Entry>(entries: readonly E[], address: string): E | undefined =>
  entries
    .filter(({ path }) => address === path || address.startsWith(`${path}/`))
    .toSorted((a, b) => b.path.length - a.path.length)[0]

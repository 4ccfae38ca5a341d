import { useEffect } from 'preact/hooks'
import { kept } from '../kept.js'

/** Something that was opened: its name, what it is, and its address. */
export interface Recent {
  name: string
  kind: string
  link: string
}

const KEEP = 8

const recent = kept<{ opened: readonly Recent[] }>('recent', () => ({ opened: [] }))

/** What the user has opened, the latest first. */
export const recentOnes = (): readonly Recent[] => recent.value.value.opened

/** Notes that something was opened. */
export function opened(one: Recent): void {
  recent.read()
  recent.value.value = { opened: [one, ...recentOnes().filter(({ link }) => link !== one.link)].slice(0, KEEP) }
  try {
    recent.keep()
  } catch {
    // Storage may be forbidden, or full.
  }
}

/** Notes that something was opened, once its name is known. */
export function useOpened(kind: string, name: string | undefined, link: string): void {
  useEffect(() => {
    if (name !== undefined) opened({ name, kind, link })
  }, [kind, name, link])
}

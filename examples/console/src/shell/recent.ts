import { signal } from '@preact/signals'
import { store, stored } from '@turnpike/ui'
import { useEffect } from 'preact/hooks'
import { account, whenSignedOut } from '../turnpike.js'

/** Something that was opened: its name, what it is, and its address. */
export interface Recent {
  name: string
  kind: string
  link: string
}

const KEEP = 8

const read = (): readonly Recent[] => {
  const { user, opened } = JSON.parse(stored('recent') ?? '{}') as { user?: string; opened?: Recent[] }
  return user === account.value?.id && opened ? opened : []
}

/** What the user has opened; undefined until it is read. */
const recent = signal<readonly Recent[] | undefined>(undefined)

/** What the user has opened, the latest first. */
export const recentOnes = (): readonly Recent[] => (recent.value ??= read())

/** Notes that something was opened. */
export function opened(one: Recent): void {
  recent.value = [one, ...recentOnes().filter(({ link }) => link !== one.link)].slice(0, KEEP)
  store('recent', JSON.stringify({ user: account.value!.id, opened: recent.value }))
}

/** Notes that something was opened, once its name is known. */
export function useOpened(kind: string, name: string | undefined, link: string): void {
  useEffect(() => {
    if (name !== undefined) opened({ name, kind, link })
  }, [kind, name, link])
}

whenSignedOut(() => {
  recent.value = undefined
  store('recent', undefined)
})

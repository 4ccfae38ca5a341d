import type { Signal } from '@preact/signals'
import { effect, signal, untracked } from '@preact/signals'
import { account, whenSignedOut } from './turnpike.js'

const PREFIX = 'turnpike-kept-'

/** A value that the browser keeps over a reload for whoever is signed in, and forgets when they sign out. */
export interface Kept<T> {
  value: Signal<T>
  /** Reads what is kept, which another tab may have changed. */
  read(): void
  /** Keeps the value, or something smaller in its place. @throws DOMException where there is no room, or storage is forbidden */
  keep(value?: T): void
}

/** @param name of what is kept, unique in the console; `empty` is the value of who has kept nothing, and has the fields that what is kept lacks */
export function kept<T extends object>(name: string, empty: () => T): Kept<T> {
  const value = signal(empty())
  let owner: string | undefined
  const read = (): void => {
    try {
      const stored = JSON.parse(localStorage.getItem(PREFIX + name) ?? '{}') as { user?: string; value?: T }
      value.value = stored.user === owner ? { ...empty(), ...stored.value } : empty()
    } catch {
      value.value = empty()
    }
  }
  effect(() => {
    const id = account.value?.id
    if (id === owner) return
    owner = id
    untracked(read)
  })
  return {
    value,
    read,
    keep(kept = value.peek()) {
      if (owner !== undefined) localStorage.setItem(PREFIX + name, JSON.stringify({ user: owner, value: kept }))
    },
  }
}

/** Here, and not where it is kept: that page may not have been loaded. */
whenSignedOut(() => {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) localStorage.removeItem(key)
  } catch {
    // Storage may be forbidden.
  }
})

import type { Page } from '@turnpike/client'
import { useEffect, useState } from 'preact/hooks'
import type { User } from '../turnpike.js'
import { whenSignedOut } from '../turnpike.js'
import type { Source, Target } from './sources.js'

/** Rows of a list that are read when the search is opened, and of each page that is read on. */
const FIRST = 100
const ON = 200
/** Pages that are read on at most, for one thing that is looked for. */
const MOST = 5
/** Milliseconds without another letter after which lists are read on. */
const PAUSE_MS = 200

type Lists = Readonly<Record<string, Page<Target>>>

/** What was read before, which is shown at once. */
let known: Lists = {}
whenSignedOut(() => (known = {}))

/**
 * What the lists have: their beginnings, and where too little of that fits what is looked for, more of them.
 * @param isEnough whether what was read of a list does for what is looked for
 */
export function useLists(
  user: User,
  sources: readonly Source[],
  wanted: string,
  isEnough: (targets: readonly Target[]) => boolean,
): { lists: Lists; isReading: boolean } {
  const [lists, setLists] = useState(known)
  const [reading, setReading] = useState(0)
  const read = async (source: Source, signal: AbortSignal, query: { limit: number; after?: string }): Promise<void> => {
    setReading((count) => count + 1)
    try {
      const { items, next } = await source.read(query, signal)
      const before = query.after === undefined ? [] : known[source.name]!.items
      known = { ...known, [source.name]: { items: [...before, ...items], next } }
      setLists(known)
    } finally {
      setReading((count) => count - 1)
    }
  }
  useEffect(() => {
    const leave = new AbortController()
    // A list that cannot be read has nothing to be found; its page says why.
    for (const source of sources) read(source, leave.signal, { limit: FIRST }).catch(() => undefined)
    return () => leave.abort()
  }, [user.id])
  useEffect(() => {
    if (wanted.trim().length < 2) return
    const leave = new AbortController()
    const readOn = async (source: Source): Promise<void> => {
      for (let count = 0; count < MOST && !leave.signal.aborted; count++) {
        const { items, next } = known[source.name] ?? { items: [], next: undefined }
        if (next === undefined || isEnough(items)) return
        await read(source, leave.signal, { limit: ON, after: next })
      }
    }
    const timer = setTimeout(() => {
      for (const source of sources) readOn(source).catch(() => undefined)
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      leave.abort()
    }
  }, [wanted])
  return { lists, isReading: reading > 0 }
}

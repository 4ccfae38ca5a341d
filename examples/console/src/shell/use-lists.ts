import type { Page } from '@turnpike/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { User } from '../turnpike.js'
import { whenSignedOut } from '../turnpike.js'
import type { PageQuery, Source, Target } from './sources.js'

/** Rows of a list that are read when the search is opened, and of each page that is read on. */
const FIRST = 100
const ON = 500
/** From how many rows on a list is not read on. */
const MOST = 2_000
/** Milliseconds without another letter after which lists are read on. */
const PAUSE_MS = 200

type Lists = Readonly<Record<string, Page<Target>>>

/** What was read before, which is shown at once. */
let known: Lists = {}
whenSignedOut(() => (known = {}))

/**
 * What the lists have: their beginnings and, until what is looked for was found by its name, more of them.
 * @param isFound whether it is among what was read of a list
 */
export function useLists(
  user: User,
  sources: readonly Source[],
  wanted: string,
  isFound: (targets: readonly Target[]) => boolean,
): { lists: Lists; isReading: boolean } {
  const [lists, setLists] = useState(known)
  const [reading, setReading] = useState(0)
  const beginnings = useRef<Record<string, Promise<void>>>({})
  const read = async (source: Source, signal: AbortSignal, query: PageQuery): Promise<void> => {
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
    for (const source of sources)
      beginnings.current[source.name] = read(source, leave.signal, { limit: FIRST }).catch(() => undefined)
    return () => leave.abort()
  }, [user.id])
  useEffect(() => {
    if (wanted.trim().length < 2) return
    const leave = new AbortController()
    const readOn = async (source: Source): Promise<void> => {
      await beginnings.current[source.name]
      while (!leave.signal.aborted) {
        const { items, next } = known[source.name] ?? { items: [], next: undefined }
        if (next === undefined || items.length >= MOST || isFound(items)) return
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

import { useRef } from 'preact/hooks'
import type { Action } from './use-action.js'
import { useAction } from './use-action.js'

/** The fields of a body that differ from those of another. */
export function changesOf<Body extends object>(from: Body, to: Body): Partial<Body> {
  const changes: Partial<Body> = {}
  for (const name of Object.keys(to) as (keyof Body)[])
    if (JSON.stringify(to[name]) !== JSON.stringify(from[name])) changes[name] = to[name]
  return changes
}

/**
 * Saves what was changed in a form since it appeared, or was saved last, if anything was. What others change meanwhile stays.
 * @param shown what the form says at first
 * @param read what it says then
 */
export function useSave<Body extends object>(
  shown: Body,
  read: (fields: FormData) => Body,
  save: (changes: Partial<Body>) => Promise<unknown>,
): Action<[FormData]> {
  const before = useRef(shown)
  return useAction(async (fields: FormData) => {
    const body = read(fields)
    const changes = changesOf(before.current, body)
    if (Object.keys(changes).length > 0) await save(changes)
    before.current = body
  })
}

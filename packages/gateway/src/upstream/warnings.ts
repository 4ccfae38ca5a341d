import type { Note } from '@turnpike/core'

const actions: Note['action'][] = ['dropped', 'clamped', 'emulated']

/** Bounds on text of the caller in a header. */
const MOST_FIELDS = 30
const MOST_CHARACTERS = 60

/** A field name in a form that is safe in a header. */
const plain = (field: string): string => field.slice(0, MOST_CHARACTERS).replace(/[^\w.-]/g, '_')

const list = (fields: string[]): string => {
  const named = fields.slice(0, MOST_FIELDS).map(plain)
  const more = fields.length - named.length
  return [...named, ...(more > 0 ? [`+${more}`] : [])].join(',')
}

/** The value of the header `x-gateway-warnings`: `dropped=seed,logit_bias; clamped=temperature`. */
export function warnings(notes: Note[]): string {
  const parts: string[] = []
  for (const action of actions) {
    const fields = notes.filter((note) => note.action === action).map(({ field }) => field)
    if (fields.length > 0) parts.push(`${action}=${list(fields)}`)
  }
  return parts.join('; ')
}

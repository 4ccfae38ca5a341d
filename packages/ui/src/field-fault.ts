import { createContext } from 'preact'

/** What the API says of a field of a form. */
export interface FieldFault {
  /** The name of the field, as the API calls it: `budget.usd`. */
  name: string
  text: string
}

/** The fault of the form around a field. */
export const Fault = createContext<FieldFault | undefined>(undefined)

/** The field that an error is about, among the names of a form: the API's sentences begin with it, as `budget.usd must be at least 0` or `models.2 must not be empty`. */
export function faultOf(error: unknown, names: readonly string[]): FieldFault | undefined {
  const { message = '' } = (error ?? {}) as { message?: string }
  const [path = '', ...words] = message.split(' ')
  const name = names.find((one) => one !== '' && (path === one || path.startsWith(`${one}.`)))
  if (name === undefined || words.length === 0) return undefined
  const text = words.join(' ')
  return { name, text: text[0]!.toUpperCase() + text.slice(1) }
}

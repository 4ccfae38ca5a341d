import { createContext } from 'preact'

/** What the API says of a field of a form. */
export interface FieldFault {
  /** The name of the field, as the API calls it: `budget.usd`. */
  name: string
  text: string
}

/** The fault of the form around a field. */
export const Fault = createContext<FieldFault | undefined>(undefined)

/** What the makers of providers say: `groq: the option "apiKey" is not set`. */
const OPTION = /^[\w.-]+: the option "([\w.]+)":? (.+)$/

/**
 * The field that an error is about, among the names of a form: the API's sentences begin with it, as `budget.usd must be at least 0`, `models.2 must not be
 * empty` or `baseURL: the key must be given again`, or call it an option.
 */
export function faultOf(error: unknown, names: readonly string[]): FieldFault | undefined {
  const { message = '' } = (error ?? {}) as { message?: string }
  const [path = '', ...words] = message
    .replace(OPTION, '$1 $2')
    .replace(/^(\S+):(?= )/, '$1')
    .split(' ')
  const name = names.find((one) => one !== '' && (path === one || path.startsWith(`${one}.`)))
  if (name === undefined || words.length === 0) return undefined
  const text = words.join(' ')
  return { name, text: text[0]!.toUpperCase() + text.slice(1) }
}

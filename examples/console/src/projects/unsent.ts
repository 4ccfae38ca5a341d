import { signal } from '@preact/signals'
import { whenSignedOut } from '../turnpike.js'

/** What was typed into a field and not sent yet. */
export interface Unsent {
  text: string
  /** The `updated_at` of what it is to change, as it was when typing began. */
  version?: string | undefined
}

const fields = signal<Readonly<Record<string, Unsent>>>({})

whenSignedOut(() => (fields.value = {}))

/** What was typed into a field. It stays when the page changes, until it is sent, or the tab is closed. */
export const unsentOf = (field: string): Unsent | undefined => fields.value[field]

/** Keeps what was typed into a field. @param unsent undefined once it was sent or given up */
export function setUnsent(field: string, unsent: Unsent | undefined): void {
  const { [field]: _, ...others } = fields.value
  fields.value = unsent === undefined ? others : { ...others, [field]: unsent }
}

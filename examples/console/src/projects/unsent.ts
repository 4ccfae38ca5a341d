import { effect, signal, untracked } from '@preact/signals'
import type { FileInfo } from '../files/thumbnail.js'
import { account, whenSignedOut } from '../turnpike.js'

/** What was typed into a field and not sent yet. */
export interface Unsent {
  text: string
  /** The `updated_at` of what it is to change, as it was when typing began. */
  version?: string | undefined
  /** The files that a message is to have. */
  attached?: readonly FileInfo[] | undefined
}

type Fields = Readonly<Record<string, Unsent>>

/** Where the tab keeps it, with whose it is: after a reload, somebody else may be signed in. */
const KEY = 'turnpike-unsent'

const fields = signal<Fields>({})
/** Whose the fields are. */
let owner: string | undefined

/** What the tab has kept of a user; nothing where it can keep nothing. */
function kept(userId: string): Fields {
  try {
    const { user, fields } = JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as { user?: string; fields?: Fields }
    return user === userId ? (fields ?? {}) : {}
  } catch {
    return {}
  }
}

/** Replaces what was typed, here and in the tab. */
function keep(changed: Fields): void {
  fields.value = changed
  try {
    if (Object.keys(changed).length === 0) sessionStorage.removeItem(KEY)
    else sessionStorage.setItem(KEY, JSON.stringify({ user: owner, fields: changed }))
  } catch {
    // It is full, or forbidden: then a reload forgets what was typed last.
  }
}

effect(() => {
  const id = account.value?.id
  if (id === undefined || id === owner) return
  owner = id
  untracked(() => (fields.value = kept(id)))
})

whenSignedOut(() => {
  owner = undefined
  keep({})
})

/** What was typed into a field. It stays when the page changes or is loaded again, until it is sent, or the tab is closed. */
export const unsentOf = (field: string): Unsent | undefined => fields.value[field]

/** Keeps what was typed into a field. @param unsent undefined once it was sent or given up */
export function setUnsent(field: string, unsent: Unsent | undefined): void {
  const { [field]: _, ...others } = fields.value
  keep(unsent === undefined ? others : { ...others, [field]: unsent })
}

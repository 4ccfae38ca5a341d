import { signal } from '@preact/signals'
import { whenSignedOut } from '../turnpike.js'

/** What was typed into a field and not sent yet. */
export interface Draft {
  text: string
  /** The `updated_at` of what it is to change, as it was when typing began. */
  version?: string | undefined
}

const drafts = signal<Readonly<Record<string, Draft>>>({})

whenSignedOut(() => (drafts.value = {}))

/** The draft of a field. It stays when the page changes, until it is sent, or the tab is closed. */
export const draftOf = (field: string): Draft | undefined => drafts.value[field]

/** Keeps the draft of a field. @param draft undefined once it was sent or given up */
export function setDraft(field: string, draft: Draft | undefined): void {
  const { [field]: _, ...others } = drafts.value
  drafts.value = draft === undefined ? others : { ...others, [field]: draft }
}

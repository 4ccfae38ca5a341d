import { effect, signal } from '@preact/signals'
import { account } from '../turnpike.js'

const texts = signal<Readonly<Record<string, string>>>({})

effect(() => {
  if (account.value === null) texts.value = {}
})

/** What was typed into a field and not sent yet. It stays when the page changes, until it is sent, or the tab is closed. */
export const typed = (field: string): string | undefined => texts.value[field]

/** Keeps what is typed into a field. @param text undefined once it was sent or given up */
export function type(field: string, text: string | undefined): void {
  const { [field]: _, ...others } = texts.value
  texts.value = text === undefined ? others : { ...others, [field]: text }
}

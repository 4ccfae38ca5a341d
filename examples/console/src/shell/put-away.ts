import { effect, signal } from '@preact/signals'
import { goTo, store, stored } from '@turnpike/ui'
import { account } from '../turnpike.js'

const nameOf = (userId: string): string => `start ${userId}`

/** Whether the user has put the first steps away. */
export const isPutAway = signal(false)

effect(() => {
  isPutAway.value = account.value != null && stored(nameOf(account.value.id)) === 'away'
})

/** Puts them away, and goes to the projects. */
export function putAway(): void {
  store(nameOf(account.value!.id), 'away')
  isPutAway.value = true
  goTo('/projects', {}, true)
}

import { computed, signal } from '@preact/signals'
import { goTo } from '@turnpike/ui'
import { account } from '../turnpike.js'
import { store, stored } from './stored.js'

const changes = signal(0)
const nameOf = (): string => `start ${account.value!.id}`

/** Whether the user has put the first steps away. */
export const isPutAway = computed(() => changes.value >= 0 && account.value != null && stored(nameOf()) === 'away')

/** Puts them away, and goes to the projects. */
export function putAway(): void {
  store(nameOf(), 'away')
  changes.value++
  goTo('/projects', {}, true)
}

import '@turnpike/ui/styles.css'
import './docs.css'
import { ignoreKeysForOthers } from '@turnpike/ui/clickjacking'
import type { Theme } from '@turnpike/ui/stored-theme'
import { applyTheme, nextTheme, storedTheme, themeNames } from '@turnpike/ui/stored-theme'
import { startFilter } from './filter.js'
import { serverOf, startRequests } from './requests.js'

ignoreKeysForOthers()

for (const base of document.querySelectorAll('.base')) base.textContent = serverOf(base)

const button = document.querySelector<HTMLButtonElement>('#theme')!
let theme: Theme = storedTheme()
const show = (): void => {
  applyTheme(theme)
  button.textContent = themeNames[theme]
}
button.addEventListener('click', () => {
  theme = nextTheme[theme]
  show()
})
show()

startRequests()
const clearFilter = startFilter()

/** The name in an address; '' where it is not well-formed. */
function nameIn(hash: string): string {
  try {
    return decodeURIComponent(hash.slice(1))
  } catch {
    return ''
  }
}

/** Opens the operation, or the schema, that the address names, also where the filter does not show it. */
function open(): void {
  const target = document.getElementById(nameIn(location.hash))
  if (target?.closest('[hidden]')) clearFilter()
  const details = target?.closest('details')
  if (!details) return
  details.open = true
  details.scrollIntoView()
}
addEventListener('hashchange', open)
open()

document.addEventListener('click', ({ target }) => {
  if (!(target instanceof Element)) return
  // A link to the place where the page is already.
  const link = target.closest<HTMLAnchorElement>('a[href^="#"]')
  if (link && link.hash === location.hash) open()
  const copy = target.closest('.copy')
  if (!copy) return
  const label = copy.firstElementChild!
  const say = (text: string) => (): void => {
    label.textContent = text
    document.querySelector('#said')!.textContent = text
    setTimeout(() => (label.textContent = 'Copy'), 2_000)
  }
  const code = copy.closest('.snippet')!.querySelector('pre')!.textContent
  // Pages over plain HTTP have no clipboard.
  const copied = navigator.clipboard?.writeText(code) ?? Promise.reject(new Error('There is no clipboard'))
  copied.then(say('Copied'), say('Not copied'))
})

import { computed, signal } from '@preact/signals'

const hash = signal(location.hash)
addEventListener('hashchange', () => (hash.value = location.hash))

/** Where the page is: of `#/usage?by=key`, the path `/usage` and the query `by=key`. */
export const route = computed(() => {
  const [path = '', query = ''] = hash.value.replace(/^#/, '').split('?')
  return { path: path || '/', query: new URLSearchParams(query) }
})

/** The link to a page; fields that are undefined or '' are left out of the query. */
export function linkTo(path: string, query: Record<string, string | number | undefined> = {}): string {
  const kept = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString()
  return `#${path}${text && `?${text}`}`
}

/** Goes to a page. @param replace whether `Back` leaves out the present one */
export function goTo(path: string, query: Record<string, string | number | undefined> = {}, replace = false): void {
  const link = linkTo(path, query)
  if (replace) {
    history.replaceState(null, '', link)
    hash.value = link
  } else location.hash = link
}

/** Changes fields of the present page's query. */
export function setQuery(fields: Record<string, string | number | undefined>): void {
  // The event of a link that was just followed comes later.
  hash.value = location.hash
  const { path, query } = route.value
  goTo(path, { ...Object.fromEntries(query), ...fields }, true)
}

import { computed, effect, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** What the title of the document is made of. */
interface Part {
  text: string
  depth: number
}

const parts = signal<readonly Part[]>([])

/** The title of the page that is shown. */
export const pageTitle = computed(() => parts.value.findLast(({ depth }) => depth === 0)?.text)

effect(() => {
  const names = parts.value.toSorted((a, b) => b.depth - a.depth).map(({ text }) => text)
  if (names.length > 0) document.title = [...names, 'Turnpike'].join(' · ')
})

/**
 * Names what is shown in the title of the document, as long as the component is: `Headline · Website · Turnpike`.
 * @param text undefined = nothing
 * @param depth how deep it is: 0 = a page, less = what the page is in, more = what is open in it, which comes first
 */
export function useTitle(text: string | undefined, depth: number): void {
  useEffect(() => {
    if (text === undefined) return
    const part = { text, depth }
    parts.value = [...parts.peek(), part]
    return () => (parts.value = parts.peek().filter((one) => one !== part))
  }, [text, depth])
}

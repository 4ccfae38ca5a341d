import { route, setQuery } from './route.js'
import { useShortcut } from './shortcuts.js'

/**
 * Whether the form for something new is shown: where the address has `new`, so that links lead to it. The key `n` shows it.
 * @param name what is made: `New project`; undefined where nothing can be, so that the key does nothing
 * @returns that, and what shows or hides it
 */
export function useNew(name: string | undefined): [isShown: boolean, show: (isShown: boolean) => void] {
  const show = (isShown: boolean): void => setQuery({ new: isShown ? 1 : undefined })
  useShortcut('n', name, () => show(true))
  return [route.value.query.has('new'), show]
}

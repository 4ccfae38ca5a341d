import { useEffect, useState } from 'preact/hooks'

/** For how long something has to be in sight before a click on it counts, in milliseconds. */
const SETTLE_MS = 700

/**
 * Whether something has been in sight for a moment, with its window in front and nobody clicking. Until then, a click may be meant for what was there
 * before: a page of others can make people click fast, and open this one below their pointer.
 */
export function useSettled(): boolean {
  const [isSettled, setSettled] = useState(false)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>
    const begin = (): void => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        setSettled(true)
        removeEventListener('pointerdown', begin, true)
      }, SETTLE_MS)
    }
    const again = (): void => {
      setSettled(false)
      addEventListener('pointerdown', begin, true)
      begin()
    }
    again()
    addEventListener('focus', again)
    return () => {
      clearTimeout(timer)
      removeEventListener('focus', again)
      removeEventListener('pointerdown', begin, true)
    }
  }, [])
  return isSettled
}

import { useEffect, useState } from 'preact/hooks'

/** Copies a text to the clipboard. @returns what came of it, for two seconds, or ''; and what copies */
export function useCopy(text: string): { result: string; copy: () => Promise<void> } {
  const [result, setResult] = useState('')
  useEffect(() => {
    if (result === '') return
    const timer = setTimeout(() => setResult(''), 2_000)
    return () => clearTimeout(timer)
  }, [result])
  const copy = async (): Promise<void> => {
    try {
      // Pages over plain HTTP have no clipboard.
      await navigator.clipboard.writeText(text)
      setResult('Copied')
    } catch {
      setResult('Not copied')
    }
  }
  return { result, copy }
}

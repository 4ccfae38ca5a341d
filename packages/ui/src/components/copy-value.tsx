import { useEffect, useState } from 'preact/hooks'
import { Copying } from '../icons.js'
import { Icon } from './icon.js'

/** A value that is copied where it is pressed. @param label what it is; @param shown how it is shown, if not as it is copied */
export function CopyValue({ label, text, shown = text }: { label: string; text: string; shown?: string }) {
  const [said, setSaid] = useState('')
  useEffect(() => {
    if (said === '') return
    const timer = setTimeout(() => setSaid(''), 2_000)
    return () => clearTimeout(timer)
  }, [said])
  const copy = async (): Promise<void> => {
    try {
      // Pages over plain HTTP have no clipboard.
      await navigator.clipboard.writeText(text)
      setSaid('Copied')
    } catch {
      setSaid('Not copied')
    }
  }
  return (
    <span class="copy-value">
      <button
        type="button"
        class="link mono"
        aria-label={`Copy ${label} ${shown}`}
        title="Copy"
        onClick={() => void copy()}
      >
        {shown}
        <Icon icon={Copying} size={12} />
      </button>
      <span class="small muted" role="status">
        {said}
      </span>
    </span>
  )
}

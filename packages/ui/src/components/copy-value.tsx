import { Copying } from '../icons.js'
import { useCopy } from '../use-copy.js'
import { Icon } from './icon.js'

/** A value that is copied where it is pressed. @param label what it is; @param shown how it is shown, if not as it is copied */
export function CopyValue({ label, text, shown = text }: { label: string; text: string; shown?: string }) {
  const { result, copy } = useCopy(text)
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
        {result}
      </span>
    </span>
  )
}

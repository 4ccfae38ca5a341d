import type { IconNode } from 'lucide'
import { h } from 'preact'

/** An icon of Lucide, in the colour of the text. Screen readers do not hear of it: a word beside it, or the label of its button, says the same. */
export const Icon = ({ icon, size = 16 }: { icon: IconNode; size?: number }) => (
  <svg
    class="icon"
    width={size}
    height={size}
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width="2"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    {icon.map(([tag, attributes]) => h(tag, attributes))}
  </svg>
)

import { Copy, shortId } from '@turnpike/ui'

/** An id as far as it tells it from others, which is copied as a whole. */
export const ShortId = ({ id }: { id: string }) => (
  <p class="small muted">
    <span class="together">
      <span class="mono">{shortId(id)}</span>
      <Copy text={id} class="link" />
    </span>
  </p>
)

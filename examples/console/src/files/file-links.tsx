import { Copy, Icon, icons } from '@turnpike/ui'
import type { ShownFile } from './preview.js'

/** The bytes of a file, by its URL. */
export const FileLinks = ({ file: { url, display_name } }: { file: ShownFile }) => (
  <div class="row">
    <a class="button" href={url} download={display_name}>
      <Icon icon={icons.Download} />
      Download
    </a>
    <a class="button" href={url} target="_blank" rel="noopener">
      Open
    </a>
    <Copy text={url} label="Copy link" />
  </div>
)

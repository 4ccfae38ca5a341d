import { Icon, icons, useData } from '@turnpike/ui'
import { turnpike } from '../turnpike.js'
import type { UserFile } from './file-drawer.js'
import { isHere, kindOf, MOST_SHOWN } from './file-kinds.js'
import { readShown, useBlobUrl } from './preview.js'

/** What lists tell of a file. */
export type FileInfo = Pick<UserFile, 'id' | 'display_name' | 'mime_type' | 'size_bytes'>

type Read = (signal: AbortSignal) => Promise<Pick<UserFile, 'url'>>

function SmallPicture({ id, read }: { id: string; read: Read }) {
  const { value } = useData(
    async (signal) => {
      const file = await read(signal)
      return isHere(file) ? readShown(file, MOST_SHOWN.picture, signal) : undefined
    },
    [id],
  )
  const url = useBlobUrl(value)
  return url ? <img class="thumbnail" src={url} alt="" /> : <span class="thumbnail" />
}

/** A picture in small; of other files, an icon. @param read reads the URL of its bytes; default of a file of the user */
export const Thumbnail = ({
  file,
  read = (signal) => turnpike.get('/api/user-files/{id}', { params: { id: file.id }, signal }),
}: {
  file: FileInfo
  read?: Read
}) =>
  kindOf(file) === 'picture' && file.size_bytes <= MOST_SHOWN.picture ? (
    <SmallPicture id={file.id} read={read} />
  ) : (
    <span class="thumbnail">
      <Icon icon={icons.Files} size={20} />
    </span>
  )

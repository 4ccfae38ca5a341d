import { bytes } from '@turnpike/ui'
import type { UserFile } from './file-drawer.js'

/** What a file can be shown as. */
export type FileKind = 'picture' | 'markdown' | 'text'

/** Most bytes of a file that are read to show it; of a text, the first ones. */
export const MOST_SHOWN: Record<FileKind, number> = { picture: 20_000_000, markdown: 200_000, text: 200_000 }

const MARKDOWN = /\.(?:md|markdown)$/i
/** Names of texts that browsers know no type of, or another one: `.ts` is a video for them. */
const TEXT =
  /\.(?:txt|log|csv|tsv|json|ya?ml|toml|ini|xml|html?|css|[cm]?[jt]sx?|py|rb|rs|go|java|c|h|cpp|sh|sql|svg)$/i
const TEXT_TYPE = /^(?:text\/|application\/(?:json|xml|yaml|.+\+(?:json|xml))(?:;|$))/i
const PICTURE_TYPE = /^image\/(?:png|jpeg|gif|webp|avif)$/i

/** What a file can be shown as, by its type and its name; undefined where it cannot. */
export function kindOf({
  mime_type,
  display_name,
}: Pick<UserFile, 'mime_type' | 'display_name'>): FileKind | undefined {
  if (PICTURE_TYPE.test(mime_type)) return 'picture'
  if (mime_type === 'text/markdown' || MARKDOWN.test(display_name)) return 'markdown'
  return TEXT_TYPE.test(mime_type) || TEXT.test(display_name) ? 'text' : undefined
}

/** Whether this server has the bytes of a file: pages read nothing from others. */
export const isHere = ({ url }: Pick<UserFile, 'url'>): boolean => new URL(url).origin === location.origin

/** The limits of the platform for what is attached to a message, in bytes; a file of a text is read as tokens. */
const MOST_ATTACHED = { bytes: 8_000_000, textBytes: 400_000 }

/** Why a file cannot be attached to a message; undefined where it can, as far as its type and its name tell. */
export function attachFault(file: Pick<UserFile, 'mime_type' | 'display_name' | 'size_bytes'>): string | undefined {
  const kind = kindOf(file)
  const isPdf = file.mime_type === 'application/pdf'
  if ((!kind && !isPdf) || file.mime_type === 'image/avif') return 'No model reads this kind of file.'
  const isText = kind === 'text' || kind === 'markdown'
  const most = isText ? MOST_ATTACHED.textBytes : MOST_ATTACHED.bytes
  return file.size_bytes > most ? `It is larger than ${bytes(most)}.` : undefined
}

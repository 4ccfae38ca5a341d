import type { User } from '@turnpike/core'
import type { Call } from '@turnpike/http'
import type * as v from 'valibot'
import { FILE_URL_S } from '../conventions.js'
import type { UserFile } from '../schemas.js'
import type { FileSigner } from './file-urls.js'
import type { FileOperations } from './files.js'
import type { FilesOptions } from './options.js'
import type { StoredFile } from './stored-files.js'
import { urlStateOf } from './stored-files.js'

/** What the routes of files work on. */
export interface FileRouteParts {
  files: FileOperations
  signer: FileSigner
  options: FilesOptions
}

/**
 * The URL of a file's bytes (one that caches keep for public files, a signed one for private files).
 * @param urlState what a signed one is bound to
 */
export async function urlOf(
  file: StoredFile,
  urlState: string,
  call: Call,
  { signer, options }: FileRouteParts,
): Promise<string> {
  const { id, is_public, storage_key, display_name: filename, deleted_at, held } = file
  const { blobs, baseUrl, publicBase, directUrls, urlSeconds: expiresIn = FILE_URL_S } = options
  const own = `${baseUrl ?? call.origin()}/api/user-files`
  if (is_public) return `${publicBase ?? own}/${id}/content`
  // The store itself would give the bytes of a file in the trash or held back.
  if (directUrls && blobs.signedUrl && deleted_at === null && !held)
    return (await blobs.signedUrl(storage_key, { expiresIn, filename })).href
  return `${own}/${id}/content?${await signer.sign(id, urlState)}`
}

/** The public form of a file. */
export async function fileView(
  file: StoredFile,
  owner: User,
  call: Call,
  parts: FileRouteParts,
): Promise<v.InferOutput<typeof UserFile>> {
  const { id, display_name, mime_type, size_bytes, is_public, storage_key, deleted_at, created_at } = file
  const url = await urlOf(file, urlStateOf(file, owner), call, parts)
  return { id, display_name, mime_type, size_bytes, is_public, url, storage_key, deleted_at, created_at }
}

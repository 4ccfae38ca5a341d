import { contentDisposition } from '@turnpike/core/helpers'
import { content } from '@turnpike/http'
import * as v from 'valibot'
import { PUBLIC_FILE_S } from '../conventions.js'
import { forbidden, notFound } from '../errors.js'
import { operation } from '../operation.js'
import { IdParams } from '../schemas.js'
import { contentTypeOf } from './file-types.js'
import type { FileSigner } from './file-urls.js'
import type { FileOperations } from './files.js'

/** What browsers may do with a file: show it, without scripts, frames and requests. */
const CSP = "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox"

/** GET /api/user-files/{id}/content: for anybody if the file is public, else by a signed URL. */
export const filesContent = ({ files, signer }: { files: FileOperations; signer: FileSigner }) =>
  operation({
    id: 'files.content',
    summary:
      'The bytes of a file: anybody has those of a public one, those of a private one whoever has its signed URL.',
    access: 'open',
    params: IdParams,
    query: v.object({ exp: v.optional(v.string()), sig: v.optional(v.string()) }),
    contentTypes: ['*/*'],
    stored: true,
    errors: [403, 404],
    async run(_, { params: { id }, query }) {
      const { file, urlState } = await files.served(id)
      const isPublic = file?.is_public ?? false
      // Told before whether there is such a file, so that ids cannot be tried.
      if (!isPublic && query.sig !== undefined && !(await signer.verify(id.toLowerCase(), urlState, query)))
        throw forbidden('The URL is not valid, or not any more')
      if (!file || (!isPublic && query.sig === undefined)) throw notFound('file')
      const { mime_type, size_bytes, sha256, display_name, inline } = file
      return content({
        type: contentTypeOf(mime_type, inline),
        size: size_bytes,
        etag: `"${sha256}"`,
        headers: {
          'content-disposition': contentDisposition(inline ? 'inline' : 'attachment', display_name),
          'content-security-policy': CSP,
          'cross-origin-resource-policy': isPublic ? 'cross-origin' : 'same-site',
          'referrer-policy': 'no-referrer',
          'cache-control': isPublic ? `public, max-age=${PUBLIC_FILE_S}, must-revalidate` : 'private, no-store',
          // Not the platform's: who asks makes no difference.
          vary: 'Origin',
        },
        read: (range) => files.read(file, range),
      })
    },
  })

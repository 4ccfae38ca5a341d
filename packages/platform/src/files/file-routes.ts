import { ONE_LINE } from '@turnpike/core/internal'
import type { FileStream } from '@turnpike/http'
import { jsonArray, Paging, route } from '@turnpike/http'
import * as v from 'valibot'
import { FILE_LIMIT, FILE_NAME_BYTES, FILE_URL_S } from '../conventions.js'
import { attachedFile, attachedFilePath } from '../conversations/attached-file.js'
import type { ConversationOperations } from '../conversations/conversations.js'
import type { PlatformRoute } from '../operation.js'
import { operation } from '../operation.js'
import type { Parts } from '../parts.js'
import { Flag, IdParams, UserFile } from '../schemas.js'
import { filesContent } from './file-content.js'
import { displayNameOf } from './file-names.js'
import { fileSigner } from './file-urls.js'
import type { FileRouteParts } from './file-view.js'
import { fileView } from './file-view.js'
import type { FileOperations } from './files.js'
import type { FilesOptions } from './options.js'

const utf8 = new TextEncoder()

const aliases = { display_name: 'displayName', is_public: 'isPublic' }
const DisplayName = v.pipe(
  v.string(),
  v.regex(/\S/, 'must not be blank'),
  v.regex(ONE_LINE, 'expected a text without control characters'),
  v.maxLength(FILE_NAME_BYTES),
  v.check((text) => utf8.encode(text).length <= FILE_NAME_BYTES, `expected at most ${FILE_NAME_BYTES} bytes`),
)

/** The form of POST /api/user-files. Its other fields may stand before the file or after it. */
export const NewFile = v.object({
  file: v.pipe(
    v.custom<FileStream>(() => true),
    v.metadata({ type: 'string', contentMediaType: 'application/octet-stream' }),
  ),
  displayName: v.optional(DisplayName),
  isPublic: Flag,
})

/** The body of PATCH /api/user-files/{id}: only fields to change. */
export const FilePatch = v.object({ displayName: v.optional(DisplayName), isPublic: v.optional(v.boolean()) })

/** GET /api/user-files */
const filesList = (parts: FileRouteParts) =>
  operation({
    id: 'files.list',
    summary: "The caller's files, newest first, or those in the trash.",
    access: 'user',
    query: v.object({ ...Paging.entries, trashed: Flag }),
    output: v.array(UserFile),
    answerHeaders: ['Link'],
    run: (caller, { query: { trashed, ...query } }, call) =>
      jsonArray(query, call, async (page) => {
        const { items, next } = await parts.files.list(caller!.user.id, { ...page, trashed: trashed === 'true' })
        return { items: await Promise.all(items.map((file) => fileView(file, caller!.user, call, parts))), next }
      }),
  })

/** POST /api/user-files */
const filesUpload = (parts: FileRouteParts) =>
  operation({
    id: 'files.upload',
    summary: 'Stores a file, as it comes.',
    access: 'user',
    form: { file: 'file', limit: parts.options.maxBytes ?? FILE_LIMIT, streamed: true },
    aliases,
    body: NewFile,
    example: { displayName: 'Report.pdf' },
    output: UserFile,
    errors: [403, 413],
    async run(caller, { body: { file } }, call) {
      const { name, type, body, least, most } = file
      const stored = await parts.files.upload(caller!.user.id, {
        name,
        type,
        body,
        least,
        most,
        memory: call.memory,
        async fields() {
          await call.again()
          const { displayName, isPublic } = (await file.fields()) as v.InferOutput<typeof NewFile>
          return {
            ...(displayName !== undefined && { display_name: displayNameOf(displayName) }),
            is_public: isPublic === 'true',
          }
        },
      })
      return fileView(stored, caller!.user, call, parts)
    },
  })

/** GET /api/user-files/{id} */
const filesGet = (parts: FileRouteParts) =>
  operation({
    id: 'files.get',
    summary: 'One file, also in the trash.',
    access: 'user',
    params: IdParams,
    output: UserFile,
    errors: [404],
    run: async (caller, { params: { id } }, call) =>
      fileView(await parts.files.get(caller!.user.id, id), caller!.user, call, parts),
  })

/** PATCH /api/user-files/{id} */
const filesUpdate = (parts: FileRouteParts) =>
  operation({
    id: 'files.update',
    summary: 'Changes the display name of a file, or who may read it.',
    access: 'user',
    params: IdParams,
    aliases,
    body: FilePatch,
    example: { displayName: 'Report.pdf' },
    output: UserFile,
    errors: [404],
    permit: async (caller, { id }) => void (await parts.files.get(caller!.user.id, id)),
    async run(caller, { params: { id }, body: { displayName, isPublic } }, call) {
      const fields = {
        ...(displayName !== undefined && { display_name: displayNameOf(displayName) }),
        ...(isPublic !== undefined && { is_public: isPublic }),
      }
      return fileView(await parts.files.update(caller!.user.id, id, fields), caller!.user, call, parts)
    },
  })

/** DELETE /api/user-files/{id} */
const filesRemove = ({ files }: FileRouteParts) =>
  operation({
    id: 'files.remove',
    summary: 'Puts a file into the trash, or with permanent=true removes it for good.',
    access: 'user',
    params: IdParams,
    query: v.object({ permanent: Flag }),
    errors: [404],
    async run(caller, { params: { id }, query: { permanent } }, call) {
      if (permanent !== 'true') await files.trash(caller!.user.id, id)
      else if (!(await files.remove(caller!.user.id, id))) call.log({ bytes_left: true })
    },
  })

/** POST /api/user-files/{id}/restore */
const filesRestore = (parts: FileRouteParts) =>
  operation({
    id: 'files.restore',
    summary: 'Takes a file out of the trash.',
    access: 'user',
    params: IdParams,
    output: UserFile,
    errors: [404],
    run: async (caller, { params: { id } }, call) =>
      fileView(await parts.files.restore(caller!.user.id, id), caller!.user, call, parts),
  })

/** The routes of files. */
export function fileRoutes(
  files: FileOperations,
  conversations: ConversationOperations,
  { kv, now }: Pick<Parts, 'kv' | 'now'>,
  options: FilesOptions,
): PlatformRoute[] {
  const { secrets = [], urlSeconds: seconds = FILE_URL_S, blobs, directUrls } = options
  // Otherwise every answer with such a URL would fail.
  if (directUrls && blobs.signedUrl && seconds > (blobs.maxExpiresIn ?? Infinity))
    throw new TypeError(
      `urlSeconds is ${seconds}, and this blob store signs URLs for ${blobs.maxExpiresIn} seconds at most`,
    )
  const parts: FileRouteParts = { files, signer: fileSigner(kv, { secrets, seconds, now }), options }
  const ours = { convention: true }
  return [
    route('GET', '/api/user-files', filesList(parts), ours),
    route('POST', '/api/user-files', filesUpload(parts), ours),
    route('GET', '/api/user-files/{id}', filesGet(parts), ours),
    route('PATCH', '/api/user-files/{id}', filesUpdate(parts), ours),
    route('DELETE', '/api/user-files/{id}', filesRemove(parts), { ...ours, status: 204 }),
    route('POST', '/api/user-files/{id}/restore', filesRestore(parts), ours),
    route('GET', '/api/user-files/{id}/content', filesContent(parts), ours),
    route('GET', attachedFilePath, attachedFile(parts, conversations), ours),
  ]
}

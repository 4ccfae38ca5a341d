import type { BlobContent, Entry, Memory } from '@turnpike/core'
import { entriesOf, getUser, listUsers, StorageError } from '@turnpike/core'
import { uuidv7 } from '@turnpike/core/helpers'
import { invalid, userEntry } from '@turnpike/core/internal'
import type { Range } from '@turnpike/http'
import type { BalanceOperations } from '../accounts/balances.js'
import { BYTES_PER_GB, FILE_LIMIT, FILE_STEP, TRASH_DAYS } from '../conventions.js'
import type { Paging } from '../pages.js'
import type { Parts } from '../parts.js'
import { displayNameOf } from './file-names.js'
import type { LooseBytes } from './file-space.js'
import { giveUp, releaseSpace, reserveSpace } from './file-space.js'
import { HEAD_BYTES, mayShow, mediaTypeOf, utf8Check } from './file-types.js'
import type { FilesOptions } from './options.js'
import type { FileFields, StoredFile } from './stored-files.js'
import {
  changeFile,
  createFile,
  endUrls,
  filesOf,
  getFile,
  listFiles,
  ownFile,
  trashedBefore,
  unlinkFile,
  urlStateOf,
} from './stored-files.js'

/** What is known of a file before its bytes have been read. */
export interface FileUpload {
  /** The file name, from which the display name is made. */
  name: string
  /** Media type; default `application/octet-stream`. */
  type?: string
  body: AsyncIterable<Uint8Array>
  /** What is known of its size, in bytes: at least and at most. Without `most`, space is reserved as the bytes come. */
  least?: number
  most?: number | undefined
  /** What its bytes are taken from that are in memory at a time; absent = they are not counted. */
  memory?: Memory
  /** The fields of the file, asked for when the body has been read. Default: named as `name`, private. @throws ApiError 400 */
  fields?: () => Promise<Partial<FileFields>>
}

/** A file, and other entries that have to be as they were read when it is removed; null where it is to stay. */
type Found = [Entry<StoredFile>, ...Entry<unknown>[]] | null

const DAY_MS = 86_400_000

/** What can be done with files, without HTTP. Those of users are of the user whose id is given. */
export function fileOperations(
  { kv, kvOf, dataBytes, now }: Parts,
  { limits }: BalanceOperations,
  { blobs, check, maxBytes = FILE_LIMIT, trashDays = TRASH_DAYS }: FilesOptions,
) {
  /** Removes loose bytes, and gives their space back. @returns false where they are loose no more */
  const removeLoose = async (fileId: string): Promise<boolean> => {
    const loose = await giveUp(kv, fileId)
    if (!loose) return false
    await blobs.delete(loose.storage_key)
    await releaseSpace(kv, fileId)
    return true
  }
  /** Removes what an upload that failed has stored, also after it was given up. What this leaves, `verify` finds. */
  const abandon = async (fileId: string, key: string): Promise<void> => {
    if (!(await removeLoose(fileId))) await blobs.delete(key)
  }

  const readAll = async function* (key: string): AsyncGenerator<Uint8Array> {
    yield* (await contentOf(key)).body
  }
  const contentOf = async (key: string, range?: Range): Promise<BlobContent> => {
    const content = await blobs.get(key, range)
    if (!content) throw new Error('The bytes of a file are not there')
    return content
  }

  /** Removes the record of a file for good, and leaves its bytes loose, so that there never is a record without bytes. @returns its id */
  const unlink = async (find: () => Promise<Found>): Promise<string | null> => {
    for (;;) {
      const found = await find()
      if (!found) return null
      const [file, ...others] = found
      if (await unlinkFile(kv, file, now(), others)) return file.value.id
    }
  }
  const remove = async (find: () => Promise<Found>): Promise<boolean> => {
    const id = await unlink(find)
    if (id !== null) await removeLoose(id)
    return id !== null
  }

  const change = (userId: string, id: string, to: (file: StoredFile) => StoredFile): Promise<StoredFile> =>
    changeFile(kv, () => ownFile(kv, userId, id), to)

  return {
    /**
     * Stores a file. Its bytes are counted as they come, and no more are stored than there is space for.
     * @throws ApiError 403 where the plan has no space for it or for data, 413 for a file that is too large, 400 where the upload check refuses it; errors of the body
     */
    async upload(
      userId: string,
      { name, type = '', body, least = 0, most, memory, fields }: FileUpload,
    ): Promise<StoredFile> {
      const time = now()
      const id = uuidv7(time)
      const created_at = new Date(time).toISOString()
      const upload = { id, user_id: userId, storage_key: `${userId}/${id}`, bytes: 0, since: created_at }
      const quota = Math.floor((await limits(userId)).storageGb * BYTES_PER_GB)
      const reserve = async (space: { least: number; most: number }): Promise<void> => {
        const bytes = await reserveSpace(kv, upload, { ...space, quota, dataBytes })
        if (bytes === null) throw new StorageError('The upload was given up, as it took too long', 'none')
        upload.bytes = bytes
      }
      await reserve({ least, most: Math.min(most ?? FILE_STEP, maxBytes) })

      const mime_type = mediaTypeOf(type)
      // A text is sent as UTF-8 where it is shown: it must be so throughout, whatever its head is.
      const isText = mime_type === 'text/plain' ? utf8Check() : () => true
      let size = 0
      const head = new Uint8Array(HEAD_BYTES)
      const counted = async function* (): AsyncGenerator<Uint8Array> {
        for await (const chunk of body) {
          if (size < HEAD_BYTES) head.set(chunk.subarray(0, HEAD_BYTES - size), size)
          size += chunk.length
          isText(chunk)
          const missing = Math.min(size, maxBytes) - upload.bytes
          if (missing > 0) await reserve({ least: missing, most: Math.max(missing, FILE_STEP) })
          yield chunk
        }
      }
      let isStored = false
      try {
        const { storage_key } = upload
        const { sha256 } = await blobs.put(storage_key, counted(), { type: mime_type, maxBytes, memory })
        const { display_name = displayNameOf(name), is_public = false } = (await fields?.()) ?? {}
        const inline = mayShow(mime_type, head.subarray(0, size)) && isText()
        const named = { id, user_id: userId, display_name, mime_type, size_bytes: size, is_public, storage_key }
        const file = { ...named, sha256, inline, created_at }
        const verdict = check ? await check({ ...file, read: () => readAll(storage_key) }) : 'accept'
        if (typeof verdict === 'object' && verdict !== null) throw invalid(verdict.refuse)
        if (verdict !== 'accept' && verdict !== 'hold')
          throw new TypeError("The check of uploads returned none of 'accept', 'hold' and { refuse }")
        const record = { ...file, ...(verdict === 'hold' && { held: true as const }), deleted_at: null }
        isStored = true
        if (await createFile(kv, record)) return record
        throw new StorageError('The upload was given up, as it took too long', 'none')
      } catch (error) {
        // A commit whose outcome is unknown may have made the record; only this error says that it did not.
        if (!isStored || (StorageError.is(error) && error.outcome === 'none'))
          await abandon(id, upload.storage_key).catch(() => undefined)
        throw error
      }
    },
    /** @throws ApiError 404, also for somebody else's */
    get: async (userId: string, id: string) => (await ownFile(kv, userId, id)).value,
    /** The files of a user, or those in the trash; newest first. */
    list: (userId: string, page?: Paging & { trashed?: boolean }) => listFiles(kvOf(userId), userId, page),
    /** Changes the given fields. A file that becomes private ends its signed URLs: from before it was public. @throws ApiError 404 */
    update: (userId: string, id: string, fields: Partial<FileFields>) =>
      change(userId, id, (file) => {
        if (Object.keys(fields).length === 0) return file
        const changed = { ...file, ...fields }
        return file.is_public && !changed.is_public ? endUrls(changed) : changed
      }),
    /** Puts a file into the trash, from which {@link purge} removes it. @throws ApiError 404 */
    trash: (userId: string, id: string) =>
      change(userId, id, (file) => (file.deleted_at ? file : { ...file, deleted_at: new Date(now()).toISOString() })),
    /** Takes a file out of the trash; its signed URLs from before have ended. @throws ApiError 404 */
    restore: (userId: string, id: string) =>
      change(userId, id, (file) => (file.deleted_at ? endUrls({ ...file, deleted_at: null }) : file)),
    /**
     * Removes a file for good, in the trash or not.
     * @returns whether its bytes are gone too; false where they cannot be removed now, and `verify` does it later
     * @throws ApiError 404
     */
    async remove(userId: string, id: string): Promise<boolean> {
      const unlinked = await unlink(async () => [await ownFile(kv, userId, id)])
      return removeLoose(unlinked!).then(
        () => true,
        () => false,
      )
    },
    /** Removes all files of a user for good, and gives up the uploads that are under way. @throws the first error, at the end */
    async removeAll(userId: string): Promise<void> {
      await forAll(filesOf(kv, userId), (id) =>
        remove(async () => {
          const file = await getFile(kv, id)
          return file && [file]
        }),
      )
      await forAll(
        looseIds(({ user_id }) => user_id === userId),
        removeLoose,
      )
    },
    /** Lets others have a file that the upload check held back. @throws ApiError 404 */
    release: (userId: string, id: string) =>
      change(userId, id, (file) => {
        const { held, ...released } = file
        return held ? released : file
      }),
    /**
     * A file whose bytes may be sent: null where it is in the trash, held back, or of a user who was deleted. And what its signed URLs are
     * bound to, also then.
     */
    async served(id: string): Promise<{ file: StoredFile | null; urlState: string }> {
      const file = (await getFile(kv, id))?.value
      const owner = file && (await getUser(kv, file.user_id, { deleted: true }))
      if (!owner) return { file: null, urlState: '' }
      const isServed = file.deleted_at === null && !file.held && owner.deleted_at === null
      return { file: isServed ? file : null, urlState: urlStateOf(file, owner) }
    },
    /** Opens the bytes of a file, or a range of them. */
    read: async ({ storage_key }: StoredFile, range?: Range) => (await contentOf(storage_key, range)).body,
    /**
     * Removes for good what has been in the trash for long enough, and the files of users who were deleted as long ago. Call it daily.
     * @returns how many files
     */
    async purge(): Promise<number> {
      const before = now() - trashDays * DAY_MS
      let count = await forAll(trashedBefore(kv, before), (id) => remove(() => trashedFile(id, before)))
      for (let after: string | undefined, more = true; more;) {
        const { items, next } = await listUsers(kv, { deleted: true, after })
        for (const { id: userId, deleted_at } of items)
          if (Date.parse(deleted_at!) < before)
            count += await forAll(filesOf(kv, userId), (id) => remove(() => fileOfDeleted(id, userId, before)))
        after = next
        more = next !== undefined
      }
      return count
    },
    /**
     * Removes the bytes of uploads and deletions that a crash cut off, and gives their space back.
     * @param olderThanMs leaves out uploads that began within this time; 0 where none can be under way. Default one day
     * @returns how many there were
     */
    async verify(olderThanMs = DAY_MS): Promise<number> {
      const isLeft = ({ reason, since }: LooseBytes): boolean =>
        reason === 'deletion' || Date.parse(since) <= now() - olderThanMs
      return forAll(looseIds(isLeft), removeLoose)
    },
  }

  /** The ids of the files whose bytes are loose. */
  async function* looseIds(which: (loose: LooseBytes) => boolean): AsyncGenerator<string> {
    for await (const { key, value } of entriesOf<LooseBytes>(kv, ['file-bytes'])) if (which(value)) yield key[1]!
  }

  /** A file in the trash since before a time; null where it was restored. */
  async function trashedFile(id: string, time: number): Promise<Found> {
    const file = await getFile(kv, id)
    const since = file?.value.deleted_at
    return since && Date.parse(since) < time ? [file] : null
  }

  /** A file of a user who was deleted before a time; null where the user was restored. */
  async function fileOfDeleted(id: string, userId: string, time: number): Promise<Found> {
    const [file, user] = await Promise.all([getFile(kv, id), userEntry(kv, userId)])
    const since = user?.value.deleted_at
    return file && since && Date.parse(since) < time ? [file, user] : null
  }
}

/** Removes one after another. One that fails does not keep the others. @returns how many were removed @throws the first error, at the end */
async function forAll(ids: AsyncIterable<string>, remove: (id: string) => Promise<boolean>): Promise<number> {
  let count = 0
  const errors: unknown[] = []
  for await (const id of ids)
    try {
      if (await remove(id)) count++
    } catch (error) {
      errors.push(error)
    }
  if (errors.length > 0) throw errors[0]
  return count
}

export type FileOperations = ReturnType<typeof fileOperations>

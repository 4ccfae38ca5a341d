import type { Commit, Entry, Key, KV, User } from '@turnpike/core'
import { entriesOf } from '@turnpike/core'
import { notFound } from '../errors.js'
import type { Page, Paging } from '../pages.js'
import { newestOfIndex } from '../pages.js'
import { idOf } from '../projects/project-access.js'
import type { LooseBytes } from './file-space.js'
import { addSpace, looseKey, uploadEntry } from './file-space.js'

/** The fields of a file that can be changed. */
export type FileFields = {
  display_name: string
  is_public: boolean
}

/** A user's file, as stored under `file/<id>`; its bytes are in the blob store under `storage_key`. */
export type StoredFile = FileFields & {
  id: string
  /** The owner. */
  user_id: string
  /** Media type, as the client gave it. */
  mime_type: string
  size_bytes: number
  storage_key: string
  /** SHA-256 of the bytes, in hexadecimal. */
  sha256: string
  /** Whether browsers may show it in place. */
  inline: boolean
  /** Present while the upload check holds the file back: nobody gets its bytes. */
  held?: true
  /** How often the signed URLs that were given before were ended; absent = 0. */
  urls_ended?: number
  /** When it was put into the trash; null = it is not there. */
  deleted_at: string | null
  created_at: string
}

const fileKey = (id: string): Key => ['file', id]
/** The lists of a user's files: those in the trash, and all others. */
const listKey = (trashed: boolean, userId: string): Key => [trashed ? 'user-trash' : 'user-files', userId]
const listedKey = ({ user_id, id, deleted_at }: StoredFile): Key => [...listKey(deleted_at !== null, user_id), id]
/** The trash of all users, oldest first. */
const trashKey = ({ id, deleted_at }: StoredFile): Key[] => (deleted_at === null ? [] : [['trash', deleted_at, id]])

/** A file whose signed URLs that were given before are not valid any more. */
export const endUrls = (file: StoredFile): StoredFile => ({ ...file, urls_ended: (file.urls_ended ?? 0) + 1 })

/** What the signed URLs of a file are bound to besides its id: they end where it changes. '' until the first change. */
export function urlStateOf({ urls_ended = 0 }: StoredFile, { signed_out_at = '' }: User): string {
  return urls_ended === 0 && signed_out_at === '' ? '' : `${urls_ended} ${signed_out_at}`
}

/** The keys that lead to a file. */
export const indexOf = (file: StoredFile): Key[] => [listedKey(file), ...trashKey(file)]

/** A file by its id, whoever owns it. */
export async function getFile(kv: KV, id: string): Promise<Entry<StoredFile> | null> {
  const known = idOf(id)
  return known === null ? null : kv.get<StoredFile>(fileKey(known))
}

/** A file of a user. @throws ApiError 404, also for somebody else's */
export async function ownFile(kv: KV, userId: string, id: string): Promise<Entry<StoredFile>> {
  const file = await getFile(kv, id)
  if (file?.value.user_id !== userId) throw notFound('file')
  return file
}

/** The files of a user, or those in the trash; newest first. */
export const listFiles = (
  kv: KV,
  userId: string,
  { trashed = false, ...paging }: Paging & { trashed?: boolean } = {},
): Promise<Page<StoredFile>> => newestOfIndex(kv, listKey(trashed, userId), fileKey, paging)

/**
 * Makes the record of an upload, whose bytes are stored. Reserved space that it does not need is given back in the same commit.
 * @returns false where the upload was given up
 */
export async function createFile(kv: KV, file: StoredFile): Promise<boolean> {
  const upload = await uploadEntry(kv, file.id)
  if (!upload) return false
  const { key, version, value } = upload
  return kv.commit({
    check: [{ key, version }],
    del: [key],
    set: [{ key: fileKey(file.id), value: file }, ...indexOf(file).map((index) => ({ key: index, value: file.id }))],
    ...addSpace(file.user_id, file.size_bytes - value.bytes),
  })
}

/** Changes a file by compare-and-set, and its place in the lists. @param to returns the new file, or the same one to keep it */
export async function changeFile(
  kv: KV,
  find: () => Promise<Entry<StoredFile>>,
  to: (file: StoredFile) => StoredFile,
): Promise<StoredFile> {
  for (;;) {
    const { key, version, value } = await find()
    const file = to(value)
    if (file === value) return file
    const commit: Commit = { check: [{ key, version }], set: [{ key, value: file }] }
    if (file.deleted_at !== value.deleted_at) {
      commit.del = indexOf(value)
      commit.set!.push(...indexOf(file).map((index) => ({ key: index, value: file.id })))
    }
    if (await kv.commit(commit)) return file
  }
}

/**
 * Removes the record of a file; its bytes are loose then.
 * @param others entries that it depends on
 * @returns false where the file or one of the others was changed meanwhile
 */
export const unlinkFile = (
  kv: KV,
  entry: Entry<StoredFile>,
  now: number,
  others: Entry<unknown>[] = [],
): Promise<boolean> => {
  const { key, value: file } = entry
  const { user_id, storage_key, size_bytes } = file
  const loose: LooseBytes = {
    user_id,
    storage_key,
    bytes: size_bytes,
    since: new Date(now).toISOString(),
    reason: 'deletion',
  }
  return kv.commit({
    check: [entry, ...others].map(({ key, version }) => ({ key, version })),
    del: [key, ...indexOf(file)],
    set: [{ key: looseKey(file.id), value: loose }],
  })
}

/** The ids of the files that were put into the trash before a time. */
export async function* trashedBefore(kv: KV, time: number): AsyncGenerator<string> {
  const end = new Date(time).toISOString()
  for await (const { key } of entriesOf(kv, ['trash'])) {
    if (key[1]! >= end) return
    yield key[2]!
  }
}

/** The ids of all files of a user. */
export async function* filesOf(kv: KV, userId: string): AsyncGenerator<string> {
  for (const trashed of [false, true])
    for await (const { key } of entriesOf(kv, listKey(trashed, userId))) yield key[2]!
}

import type { Commit, Entry, Key, KV } from '@turnpike/core'
import { update } from '@turnpike/core'
import type { Counts } from '@turnpike/core/internal'
import { repeated } from '@turnpike/core/helpers'
import { counting, ownedKey } from '@turnpike/core/internal'
import { FILE_RECORD_BYTES } from '../conventions.js'
import { forbidden } from '../errors.js'

/**
 * Bytes without a record, as stored under `file-bytes/<file id>`: those of an upload or a deletion that has not ended. The entry is written
 * before the bytes are, and stays until they are gone or have their record, so that they are found after a crash. They count as used.
 * From the first such entry of a file to the end of the last, the file counts as {@link FILE_RECORD_BYTES} of data, too.
 */
export type LooseBytes = {
  user_id: string
  storage_key: string
  bytes: number
  /** ISO 8601. */
  since: string
  reason: 'upload' | 'deletion'
}

/** The counter of the bytes that a user has: of all files, also those in the trash, and of loose bytes. */
const spaceKey = (userId: string): Key => ['file-space', userId]
export const looseKey = (fileId: string): Key => ['file-bytes', fileId]

/** The addition that changes the used bytes of a user. */
export const addSpace = (userId: string, bytes: number): Required<Pick<Commit, 'sum'>> => ({
  sum: [{ key: spaceKey(userId), add: { bytes } }],
})

/** The bytes of all files of a user, those in the trash included. */
export const usedSpace = async (kv: KV, userId: string): Promise<number> =>
  (await kv.get<{ bytes?: number }>(spaceKey(userId)))?.value.bytes ?? 0

/** Whether an upload still has its entry: it was not given up, by {@link giveUp}. */
const isUnderWay = (loose: Entry<LooseBytes> | null): loose is Entry<LooseBytes> => loose?.value.reason === 'upload'

/** The entry of an upload that is under way; null where it was given up. */
export async function uploadEntry(kv: KV, fileId: string): Promise<Entry<LooseBytes> | null> {
  const loose = await kv.get<LooseBytes>(looseKey(fileId))
  return isUnderWay(loose) ? loose : null
}

/**
 * Reserves space for an upload, or more space: between `least` and `most` bytes, as much as is free.
 * @param upload.bytes what it has already; 0 makes its entry
 * @param options.quota bytes of files that the user may have
 * @param options.dataBytes bytes of data that the user may have
 * @returns the bytes that it has then; null where it was given up
 * @throws ApiError 403 where less than `least` is free, or there is no space for another record
 */
export async function reserveSpace(
  kv: KV,
  upload: Omit<LooseBytes, 'reason'> & { id: string },
  { least, most, quota, dataBytes }: { least: number; most: number; quota: number; dataBytes: number },
): Promise<number | null> {
  const { id, ...entry } = upload
  const owned = ownedKey(entry.user_id)
  const keys = [spaceKey(entry.user_id), looseKey(id)]
  const { bytes } = await repeated(`data ${entry.user_id}`, async () => {
    const [space, loose, data] = (await kv.getMany<unknown>([...keys, owned])) as [
      Entry<{ bytes?: number }> | null,
      Entry<LooseBytes> | null,
      Entry<Counts> | null,
    ]
    if (entry.bytes > 0 && !isUnderWay(loose)) return { bytes: null }
    const free = quota - (space?.value.bytes ?? 0)
    if (free < least) throw forbidden(`Your plan has ${quota} bytes for files, trash included, and this would be more`)
    const taken = Math.min(most, Math.max(free, 0))
    const bytes = entry.bytes + taken
    const record = { bytes: loose ? 0 : FILE_RECORD_BYTES }
    const count = await counting(kv, owned, record, { limits: { bytes: dataBytes }, entry: data })
    const stands = await kv.commit({
      check: [
        ...[space, loose].map((found, i) => ({ key: keys[i]!, version: found?.version ?? null })),
        ...count.check,
      ],
      set: [{ key: looseKey(id), value: { ...entry, bytes, reason: 'upload' } satisfies LooseBytes }],
      sum: [...addSpace(entry.user_id, taken).sum, ...count.sum],
    })
    return stands ? { bytes } : undefined
  })
  return bytes
}

/** Gives an upload up, so that no record is made of it. @returns its entry, or that of a deletion; null where there is none */
export function giveUp(kv: KV, fileId: string): Promise<LooseBytes | null> {
  return update<LooseBytes>(kv, looseKey(fileId), (loose) =>
    loose?.reason === 'upload' ? { ...loose, reason: 'deletion' } : undefined,
  )
}

/** Removes the entry of loose bytes that are gone, and gives their space back; does nothing where that was done. */
export async function releaseSpace(kv: KV, fileId: string): Promise<void> {
  const find = () => kv.get<LooseBytes>(looseKey(fileId))
  let read = await find()
  if (!read) return
  await repeated(`data ${read.value.user_id}`, async () => {
    const loose = read ?? (await find())
    read = null
    if (!loose) return {}
    const { key, version, value } = loose
    const count = await counting(kv, ownedKey(value.user_id), { bytes: -FILE_RECORD_BYTES })
    const released = await kv.commit({
      check: [{ key, version }, ...count.check],
      del: [key],
      sum: [...addSpace(value.user_id, -value.bytes).sum, ...count.sum],
    })
    return released ? {} : undefined
  })
}

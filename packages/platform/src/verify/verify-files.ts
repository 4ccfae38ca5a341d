import type { BlobStore, KV } from '@turnpike/core'
import { entriesOf } from '@turnpike/core'
import type { LooseBytes } from '../files/file-space.js'
import type { StoredFile } from '../files/stored-files.js'
import { indexOf } from '../files/stored-files.js'
import { miscounted } from './verify-counters.js'

/** Checks that each file is found where it belongs and nowhere else. */
async function* verifyLists(kv: KV): AsyncGenerator<string> {
  for await (const { key, value } of entriesOf<StoredFile>(kv, ['file'])) {
    const { user_id } = value
    const [owner, erasure, ...lists] = await kv.getMany([['user', user_id], ['erasure', user_id], ...indexOf(value)])
    if (!owner && !erasure) yield `File ${key[1]} is of user ${value.user_id}, who is not there`
    if (lists.includes(null)) yield `File ${key[1]} is not in its lists`
  }
  for (const list of ['user-files', 'user-trash', 'trash'])
    for await (const { key } of entriesOf(kv, [list])) {
      const file = (await kv.get<StoredFile>(['file', key[2]!]))?.value
      if (!file || !indexOf(file).some((place) => place.join() === key.join()))
        yield `${list} leads to file ${key[2]}, which does not belong there`
    }
}

/** Checks that the count of each user's bytes is right. */
async function* verifySpace(kv: KV): AsyncGenerator<string> {
  const taken = async function* (): AsyncGenerator<[string, { bytes: number }]> {
    for await (const { value } of entriesOf<StoredFile>(kv, ['file']))
      yield [value.user_id, { bytes: value.size_bytes }]
    for await (const { value } of entriesOf<LooseBytes>(kv, ['file-bytes']))
      yield [value.user_id, { bytes: value.bytes }]
  }
  for await (const [userId, { bytes }] of miscounted(kv, 'file-space', taken()))
    yield `The files of user ${userId} are miscounted by ${bytes} bytes`
}

/** Checks that no file is without its bytes. */
async function* verifyBytes(kv: KV, blobs: BlobStore): AsyncGenerator<string> {
  for await (const { key, value } of entriesOf<StoredFile>(kv, ['file'])) {
    const content = await blobs.get(value.storage_key)
    if (content?.size !== value.size_bytes)
      yield `File ${key[1]} has ${content?.size ?? 'no'} bytes, not ${value.size_bytes}`
  }
}

/** Checks the files of users. @param blobs where their bytes are; without it, these are not looked for */
export async function* verifyFiles(kv: KV, blobs: BlobStore | undefined): AsyncGenerator<string> {
  yield* verifyLists(kv)
  yield* verifySpace(kv)
  if (blobs) yield* verifyBytes(kv, blobs)
}

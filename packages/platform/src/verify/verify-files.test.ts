import type { Commit } from '@turnpike/core'
import { createUser, memoryKV } from '@turnpike/core'
import { unstorageBlobs } from '@turnpike/storage/blobs'
import { expect, it } from 'vitest'
import { mapDriver } from '../../../../test/support/map-driver.js'
import type { StoredFile } from '../files/stored-files.js'
import { createPlatform } from '../platform.js'
import { verifyPlatform } from './verify.js'

/** A store with a file of five bytes, one in the trash and an upload under way, and what is wrong with it. */
async function setUp() {
  const kv = await memoryKV()
  const blobs = unstorageBlobs(mapDriver<string | Uint8Array>().driver)
  const { files } = createPlatform({ kv, identity: { authenticate: () => null }, files: { blobs } }).operations
  const user = await createUser(kv, { id: 'ada' })
  async function* body() {
    yield new Uint8Array(5)
  }
  const file = await files!.upload(user.id, { name: 'a', body: body() })
  const trashed = await files!.trash(user.id, (await files!.upload(user.id, { name: 'b', body: body() })).id)
  await kv.commit({
    set: [{ key: ['file-bytes', 'c'], value: { user_id: 'ada', bytes: 7, reason: 'upload' } }],
    sum: [{ key: ['file-space', 'ada'], add: { bytes: 7 } }],
  })
  const problems = async (): Promise<string[]> => {
    const found: string[] = []
    for await (const problem of verifyPlatform(kv, { blobs })) found.push(problem)
    return found
  }
  return { kv, blobs, file, trashed, problems }
}

it('finds nothing wrong with files, the trash and uploads under way', async () => {
  expect(await (await setUp()).problems()).toEqual([])
})

it.each<[what: string, damage: (file: StoredFile, trashed: StoredFile) => Commit, problem: string]>([
  ['a wrong count', () => ({ sum: [{ key: ['file-space', 'ada'], add: { bytes: 3 } }] }), 'miscounted by -3 bytes'],
  ['a file that no list has', ({ id }) => ({ del: [['user-files', 'ada', id]] }), 'is not in its lists'],
  [
    'a trash without its time',
    (_, { id, deleted_at }) => ({ del: [['trash', deleted_at!, id]] }),
    'is not in its lists',
  ],
  [
    'a file in the trash that is listed too',
    (_, { id }) => ({ set: [{ key: ['user-files', 'ada', id], value: id }] }),
    'which does not belong there',
  ],
  ['an owner who is not there', () => ({ del: [['user', 'ada']] }), 'is of user ada, who is not there'],
])('finds %s', async (_, damage, problem) => {
  const { kv, file, trashed, problems } = await setUp()
  await kv.commit(damage(file, trashed))
  expect((await problems()).join()).toContain(problem)
})

it('finds a file without its bytes', async () => {
  const { blobs, file, problems } = await setUp()
  await blobs.delete(file.storage_key)
  expect(await problems()).toEqual([`File ${file.id} has no bytes, not 5`])
})

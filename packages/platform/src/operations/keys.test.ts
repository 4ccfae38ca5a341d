import { createUser, deleteUser, memoryKV } from '@turnpike/core'
import { expect, it } from 'vitest'
import { passwordAuth } from '../identity/password-auth.js'
import { createPlatform } from '../platform.js'

it('makes no key for a user who was deleted meanwhile', async () => {
  const kv = await memoryKV()
  const { operations } = createPlatform({ kv, identity: passwordAuth({ kv }) })
  const { id } = (await createUser(kv, { name: 'Ada', role: 'developer' }))!
  await deleteUser(kv, id)
  await expect(operations.keys.create(id, { name: 'laptop' })).rejects.toMatchObject({ status: 401 })
})

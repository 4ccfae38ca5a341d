import { createUser, memoryKV } from '@turnpike/core'
import type { PlatformOptions } from '@turnpike/platform'
import { createPlatform } from '@turnpike/platform'

/** A platform in which Ada has a project, of which Eve is an editor. @param options more than a store, and an identity that knows nobody */
export async function sharedProject(options: Partial<PlatformOptions> = {}) {
  const kv = await memoryKV()
  const [ada, eve] = await Promise.all([
    createUser(kv, { email: 'ada@example.org' }),
    createUser(kv, { email: 'eve@example.org' }),
  ])
  const platform = createPlatform({ kv, identity: { authenticate: () => null }, ...options })
  const { projects, members } = platform.operations
  const { id } = await projects.create(ada.id, { name: 'P' })
  const owner = { id: ada.id, email: 'ada@example.org' }
  const member = await members.set(owner, id, { email: 'eve@example.org', role: 'editor' })
  await members.accept({ id: eve.id, email: 'eve@example.org' }, id, member.id)
  return { kv, platform, ada, eve, id, removeEve: () => members.remove(owner, id, member.id) }
}

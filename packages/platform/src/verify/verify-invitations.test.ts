import type { JsonValue } from '@turnpike/core'
import { memoryKV } from '@turnpike/core'
import { expect, it } from 'vitest'
import { createInvitation } from '../sign-in/stored-invitations.js'
import { verifyPlatform } from './verify.js'

it('tells of invitations that are not found, and of what leads to none', async () => {
  const kv = await memoryKV()
  const given = { email: 'Ada@Bücher.example', role: 'user', credit_coins: 0, extra_projects: 0 } as const
  const { invitation } = await createInvitation(kv, given, { by: 'root', days: 7, now: Date.now(), mail: 'none' })
  const { id, link } = invitation
  const problems = async (): Promise<string[]> => {
    const found: string[] = []
    for await (const problem of verifyPlatform(kv)) found.push(problem)
    return found
  }
  expect(await problems()).toEqual([])
  const without = async (kind: string): Promise<string[]> => {
    const { key, value } = (await kv.list<JsonValue>([kind])).items[0]!
    await kv.commit({ del: [key] })
    const found = await problems()
    await kv.commit({ set: [{ key, value }] })
    return found
  }
  expect(await without('invitation')).toEqual([
    `An e-mail leads to invitation ${id}, which is not there`,
    `A link leads to invitation ${id}, whose link it is not`,
  ])
  expect(await without('invitation-of')).toEqual([`Invitation ${id} is not found by its e-mail`])
  expect(await without('link')).toEqual([`Invitation ${id} is not found by its link`])
  expect(link).toMatch(/^[0-9a-f]{64}$/)
})

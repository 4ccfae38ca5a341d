import type { KV } from '@turnpike/core'
import { createSession, createUser, gatewayKeys, memoryKV } from '@turnpike/core'
import { ownedKey } from '@turnpike/core/internal'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Message } from '../conversations/stored-conversations.js'
import { addMessages, clearConversation, getConversation, lastMessages } from '../conversations/stored-conversations.js'
import { endReply, writePart } from '../conversations/stored-replies.js'
import { giveUp, releaseSpace, reserveSpace } from '../files/file-space.js'
import { finishPurges } from '../projects/purges.js'
import { createProject, deleteProject, updateProject } from '../projects/stored-projects.js'
import { createTask, taskUpdates } from '../tasks/stored-tasks.js'
import { storedBytes, verifyBytes } from './verify-bytes.js'

const NO_LIMIT = { projects: null, agents: null, tasks: null, bytes: Infinity }
const AT = { limits: NO_LIMIT, bytes: Infinity, now: Date.UTC(2026, 0, 2) }
const fields = { name: 'P', team_type: 'custom', color: '#64748b', description: null } as const
const task = { title: 'T', description: null, assigned_agent_id: null, requires_user_approval: false }
const used = async () => ({}) as never

let kv: KV
let user: string
beforeEach(async () => {
  kv = await memoryKV()
  user = (await createUser(kv, { name: 'Ada' })).id
})
const counted = async () => (await kv.get<{ bytes?: number }>(ownedKey(user)))?.value.bytes ?? 0
const stored = async () => (await storedBytes(kv)).get(user) ?? 0
const problems = async () => {
  const all: string[] = []
  for await (const problem of verifyBytes(kv)) all.push(problem)
  return all
}
const newProject = async () => (await createProject(kv, user, fields, { agents: 1, ...AT })).id
const say = (id: string, text = 'é') => addMessages(kv, user, id, [{ role: 'user', text }], AT)

/** What users do, one after the other. */
async function* acts(): AsyncGenerator<void> {
  const id = await newProject()
  yield
  await updateProject(kv, user, id, { name: 'Ü', team_type: 'research' }, { agents: 3, ...AT })
  yield
  const conversation = await getConversation(kv, user, id, AT.now)
  yield
  await say(id)
  await say(id, 'a longer one \u2028 "')
  yield
  for (const end of ['done', null] as const) {
    const running = [{ role: 'assistant', text: '', state: 'running' } as const]
    const { messages } = await addMessages(kv, user, id, running, AT)
    const [reply] = messages as [Message]
    for (const part of ['so', 'so far', 'so far, ü']) {
      await writePart(kv, { userId: user, ownerId: user, conversation, reply }, part === 'so' ? 0 : 1, {
        text: part,
        thinking: '',
      })
      yield
    }
    await endReply(kv, reply.id, () => end && { ...reply, text: 'x'.repeat(99), state: end })
    yield
  }
  const { id: taskId } = await createTask(kv, user, id, task, AT)
  await createTask(kv, user, id, task, AT)
  yield
  const update = taskUpdates(() => kv, { ...AT, used, now: () => AT.now })
  for (const output of ['one', 'two', null, 'three']) {
    await update(user, taskId, () => ({ output, draft_output: `${output} x` }))
    yield
  }
  await createSession(kv, user, { label: 'S', metadata: { 1: 'x', a: { b: [1.5, null] } } })
  yield
  const keys = gatewayKeys(kv)
  const made = await keys.create(user, { name: 'k' })
  yield
  const rotated = await keys.rotate(made!.id)
  await keys.update(rotated!.id, { rateLimit: 12_345 })
  yield
  await keys.revoke(made!.id)
  yield
  const upload = { id: 'f', user_id: user, storage_key: 'f', bytes: 0, since: '' }
  const space = { least: 0, most: 5, quota: 10, dataBytes: Infinity }
  await reserveSpace(kv, upload, space)
  await reserveSpace(kv, { ...upload, bytes: 5 }, space)
  yield
  await giveUp(kv, 'f')
  await releaseSpace(kv, 'f')
  yield
  await clearConversation(kv, user, id, AT)
  expect((await lastMessages(kv, conversation)).items).toEqual([])
  yield
  await say(id)
  await deleteProject(kv, user, id)
  yield
}

describe('the bytes of a user', () => {
  it('are counted exactly, by each commit', async () => {
    let steps = 0
    for await (const _ of acts()) {
      expect(await counted(), `after step ${steps}`).toBe(await stored())
      steps++
    }
    expect(steps).toBeGreaterThan(15)
    expect(await problems()).toEqual([])
  })

  it('are counted while a deletion is under way, and once by several that finish it', async () => {
    const id = await newProject()
    for (let i = 0; i < 250; i++) await createTask(kv, user, id, task, AT)
    let done = 0
    const failing: KV = {
      ...kv,
      commit: (commit) => (++done > 2 ? Promise.reject(new Error('Gone')) : kv.commit(commit)),
    }
    await expect(deleteProject(failing, user, id)).rejects.toThrow('Gone')
    expect(await counted()).toBe(await stored())
    expect(await stored()).toBeGreaterThan(0)
    await Promise.all([finishPurges(kv), finishPurges(kv)])
    expect([await counted(), await stored()]).toEqual([0, 0])
  })

  it('are not counted of what an earlier version stored, and removing it takes nothing off', async () => {
    const id = await newProject()
    for (let i = 0; i < 5; i++) await createTask(kv, user, id, task, AT)
    const value = (await kv.get<{ bytes: number }>(ownedKey(user)))!.value.bytes
    await kv.commit({ sum: [{ key: ownedKey(user), add: { bytes: -value } }] })
    expect(await problems()).toEqual([])
    const limits = { ...NO_LIMIT, bytes: 1_500 }
    const made = await createProject(kv, user, fields, { agents: 1, limits, now: AT.now })
    await expect(createProject(kv, user, fields, { agents: 1, limits, now: AT.now })).rejects.toMatchObject({
      status: 403,
    })
    await deleteProject(kv, user, id)
    expect(await counted()).toBe(0)
    await deleteProject(kv, user, made.id)
    expect([await counted(), await stored()]).toEqual([0, 0])
  })

  it('are free again after a deletion that an earlier version began', async () => {
    const id = await newProject()
    await say(id)
    const before = await counted()
    await kv.commit({ set: [{ key: ['purge', 'old'], value: ['in-project', id, 'message'] }] })
    expect(await finishPurges(kv)).toBe(1)
    expect(await kv.list(['in-project', id, 'message'])).toEqual({ items: [] })
    expect(await counted()).toBe(before)
  })

  it('have a problem where more are counted than there are', async () => {
    await newProject()
    await kv.commit({ sum: [{ key: ownedKey(user), add: { bytes: 1 } }] })
    expect(await problems()).toEqual([
      `${await counted()} bytes of data of user ${user} are counted, and ${await stored()} are there`,
    ])
  })
})

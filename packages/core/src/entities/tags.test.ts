import { describe, expect, it } from 'vitest'
import { deleteTags, storeTags } from '../../../../test/support/tags.js'
import { usageRecord } from '../../../../test/support/usage-record.js'
import type { Key, KV } from '../kv/kv.js'
import { memoryKV } from '../kv/memory-kv.js'
import type { UsageRecord } from '../ledger/usage-record.js'
import { createSession } from './sessions.js'
import { attribution } from './tags.js'

const START = Date.UTC(2026, 0, 2)
const MISSING = '018f0000-0000-7000-8000-000000000001'

/** A store with what two users own, whose reads are counted. */
async function setUp() {
  const kv = await memoryKV()
  const clock = { now: START }
  const now = () => clock.now
  const read: Key[][] = []
  const counted: KV = { ...kv, getMany: <T>(keys: Key[]) => (read.push(keys), kv.getMany<T>(keys)) }
  const attribute = attribution(counted, { now })
  /** What is attributed of a record with these fields. */
  const marked = async (fields: Partial<UsageRecord>, by = attribute) => {
    const record = usageRecord(fields)
    await by(record)
    const { project_id, in_session, in_conversation, in_task, in_project } = record
    return { project_id, in_session, in_conversation, in_task, in_project }
  }
  const [ada, bob] = [await storeTags(kv, 'ada'), await storeTags(kv, 'bob')]
  return { kv, clock, read, attribute, marked, another: () => attribution(kv, { now }), ada, bob }
}

/** What is attributed where nothing counts. */
const none = {
  project_id: '',
  in_session: false,
  in_conversation: undefined,
  in_task: undefined,
  in_project: undefined,
}

describe('a record', () => {
  it('counts for what it names of its own user', async () => {
    const { kv, marked, ada } = await setUp()
    const { id: session_id } = await createSession(kv, 'ada', {}, START)
    const own = { project_id: ada.project, task_id: ada.task, conversation_id: ada.conversation, session_id }
    const all = { project_id: ada.project, in_session: true, in_conversation: true, in_task: true, in_project: true }
    // The second time from memory.
    expect(await marked(own)).toEqual(all)
    expect(await marked(own)).toEqual(all)
    expect(await marked({ project_id: ada.project })).toEqual({ ...none, project_id: ada.project, in_project: true })
    expect(await marked({ session_id })).toEqual({ ...none, in_session: true })
  })

  it('counts for nothing of another user, and for nothing that is missing', async () => {
    const { kv, marked, bob } = await setUp()
    const { id: session_id } = await createSession(kv, 'bob', {}, START)
    for (const again of [false, true]) {
      const tags = { task_id: bob.task, conversation_id: bob.conversation, session_id }
      expect(await marked(tags), String(again)).toEqual(none)
      expect(await marked({ ...tags, project_id: bob.project })).toEqual({ ...none, project_id: bob.project })
      const missing = { task_id: MISSING, conversation_id: MISSING, session_id: MISSING }
      expect(await marked({ ...missing, project_id: MISSING })).toEqual({ ...none, project_id: MISSING })
    }
  })

  it('counts for an entity only under the tag of its kind', async () => {
    const { marked, ada } = await setUp()
    const { project, task, conversation } = ada
    const swapped = { task_id: project, conversation_id: task, session_id: conversation, project_id: task }
    for (const again of [false, true])
      expect(await marked(swapped), String(again)).toEqual({ ...none, project_id: task })
  })

  it('of one user does not count for what another has just used', async () => {
    const { marked, ada } = await setUp()
    expect(await marked({ task_id: ada.task })).toMatchObject({ in_task: true })
    expect(await marked({ task_id: ada.task, user_id: 'bob' })).toEqual(none)
  })
})

describe('a record without a project', () => {
  it('has that of its own task, else that of its own conversation', async () => {
    const { kv, marked, ada, bob } = await setUp()
    const other = await storeTags(kv, 'ada')
    const project_id = ada.project
    expect(await marked({ task_id: ada.task })).toEqual({ ...none, project_id, in_task: true, in_project: true })
    const conversation_id = ada.conversation
    const counted = { ...none, project_id, in_conversation: true, in_project: true }
    expect(await marked({ conversation_id })).toEqual(counted)
    for (const task_id of [bob.task, MISSING]) expect(await marked({ conversation_id, task_id })).toEqual(counted)
    expect(await marked({ conversation_id: other.conversation, task_id: ada.task })).toEqual({
      ...counted,
      in_task: true,
    })
  })

  it('gets none where it names one, whatever that is', async () => {
    const { kv, marked, ada, bob } = await setUp()
    const other = await storeTags(kv, 'ada')
    const counted = { ...none, in_task: true }
    for (const project_id of [bob.project, MISSING])
      expect(await marked({ task_id: ada.task, project_id })).toEqual({ ...counted, project_id })
    const own = { project_id: other.project, in_project: true }
    expect(await marked({ task_id: ada.task, project_id: other.project })).toEqual({ ...counted, ...own })
  })
})

describe('a session', () => {
  it('counts records of its user, until it ends', async () => {
    const { kv, clock, marked, another } = await setUp()
    const { id } = await createSession(kv, 'ada', { expiresAt: new Date(START + 2_000) }, START)
    const by = another()
    const isIn = async (user_id = 'ada') => (await marked({ session_id: id, user_id }, by)).in_session
    for (const again of [false, true]) {
      expect(await isIn(), String(again)).toBe(true)
      expect(await isIn('bob'), String(again)).toBe(false)
    }
    clock.now = START + 1_999
    expect(await isIn()).toBe(true)
    clock.now = START + 2_000
    expect(await isIn()).toBe(false)
    expect(await marked({ session_id: id }, another())).toEqual(none)
  })
})

describe('a record of a member of a project', () => {
  it('counts for the project and what is in it, where the member is an editor', async () => {
    const { kv, marked, another, clock, ada } = await setUp()
    const share = (members: { user_id?: string; role: string }[]) =>
      kv.commit({ set: [{ key: ['project', ada.project], value: { id: ada.project, user_id: 'ada', members } }] })
    const tags = { user_id: 'bob', task_id: ada.task, conversation_id: ada.conversation }
    const all = { project_id: ada.project, in_session: false, in_conversation: true, in_task: true, in_project: true }
    await share([{ role: 'editor' }, { user_id: 'bob', role: 'editor' }])
    expect(await marked(tags)).toEqual(all)
    expect(await marked({ ...tags, project_id: ada.project })).toEqual(all)
    expect(await marked({ ...tags, user_id: 'eve' })).toEqual(none)
    await share([{ user_id: 'bob', role: 'reader' }])
    expect(await marked(tags, another())).toEqual(none)
    // Where it was read before, four seconds later.
    clock.now += 4_000
    expect(await marked(tags)).toEqual(none)
  })
})

describe('the look-up', () => {
  it('reads nothing without tags, and all that is missing at once, then the projects of what is of others', async () => {
    const { attribute, read, ada, bob } = await setUp()
    expect(attribute(usageRecord())).toBeUndefined()
    expect(read).toEqual([])
    const tags = { session_id: MISSING, conversation_id: ada.conversation, task_id: ada.task, project_id: ada.project }
    const keys = { conversation: ['conversation', ada.conversation], task: ['task', bob.task] }
    await attribute(usageRecord(tags))
    expect(read).toEqual([[['session', MISSING], keys.conversation, ['task', ada.task], ['project', ada.project]]])
    read.length = 0
    // What is missing may be created at any moment.
    await attribute(usageRecord({ ...tags, task_id: bob.task }))
    expect(read).toEqual([[['session', MISSING], keys.task], [['project', bob.project]]])
    read.length = 0
    expect(attribute(usageRecord({ ...tags, session_id: '' }))).toBeUndefined()
    expect(read).toEqual([])
  })

  it('counts records for what was deleted for at most four seconds', async () => {
    const { kv, clock, marked, ada } = await setUp()
    const tags = { task_id: ada.task, project_id: ada.project }
    await marked(tags)
    await deleteTags(kv, ada)
    clock.now += 3_999
    expect(await marked(tags)).toMatchObject({ in_task: true, in_project: true })
    clock.now += 1
    expect(await marked(tags)).toEqual({ ...none, project_id: ada.project })
    expect(await marked({ task_id: ada.task })).toEqual(none)
  })

  it('fails where the store does', async () => {
    const kv = await memoryKV()
    const attribute = attribution({ ...kv, getMany: () => Promise.reject(new Error('No')) })
    await expect(attribute(usageRecord({ task_id: MISSING, project_id: MISSING }))).rejects.toThrow('No')
  })
})

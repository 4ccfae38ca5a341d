import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endEngines } from '../support/engines.js'
import { filePart, formBytes } from '../support/forms.js'
import { completion } from '../support/gateway.js'
import { needs } from '../support/needs.js'
import { durableStores, fileStore, sendForm, upload } from './files.js'
import type { Owner } from './requests.js'
import { newOwner } from './requests.js'
import { made, newProject, newTask, patchTask } from './work.js'
import type { Reply, SignedIn, World } from './world.js'
import { chat, PASSWORD, startWorld, unknownId, withCookie } from './world.js'

/** What is in every text that the person writes. */
const MARK = 'zanzibar'

type Entry = [key: string[], value: unknown]

const erase = (world: World, as: SignedIn | string, id: string): Promise<Reply<{ error?: string }>> =>
  world.ask('DELETE', `/api/users/${id}?permanent=true`, { as })
const remove = (world: World, as: SignedIn, id: string) => world.ask('DELETE', `/api/users/${id}`, { as })
const dump = (world: World): Promise<Entry[]> => world.call<Entry[]>('dump')
/** The entries that have a text. */
const having = (entries: Entry[], text: string): Entry[] =>
  entries.filter((entry) => JSON.stringify(entry).toLowerCase().includes(text.toLowerCase()))

/** A developer with one of everything and {@link MARK} in all texts. */
async function newPerson(world: World, admin: SignedIn): Promise<Owner> {
  const ada = await newOwner(world)
  const as = ada
  const ok = async (method: string, path: string, body?: unknown, headers = {}): Promise<void> => {
    const { status } = await world.ask(method, path, { as, body, headers })
    expect([path, status]).toEqual([path, expect.toSatisfy((one: number) => one < 300)])
  }
  const names = { firstName: `${MARK} Ada`, lastName: `${MARK} L`, username: MARK, budget: { usd: 5 } }
  expect((await world.ask('PATCH', `/api/users/${ada.id}`, { as: admin, body: names })).status).toBe(200)
  await world.ask('PATCH', `/api/users/${ada.id}/balance`, { as: admin, body: { storageGb: 1 } })
  await world.signIn(ada.email, { cookie: true, headers: { 'user-agent': MARK, 'x-forwarded-for': '203.0.113.7' } })
  await world.ask('POST', '/api/auth', {
    body: { email: ada.email, password: 'wrong one' },
    headers: { 'x-forwarded-for': '203.0.113.8' },
  })
  await ok('PATCH', `/api/keys/${ada.keyId}`, { name: MARK, endUsers: { budget: { usd: 1 } } })
  const asked = { ...chat, user: `${MARK}@customer.example` }
  const tags = { 'x-session-id': `${MARK}-session`, 'x-task-id': ada.taskId, 'x-project-id': `${MARK}-project` }
  expect((await world.ask('POST', '/v1/chat/completions', { as: ada.key, body: asked, headers: tags })).status).toBe(
    200,
  )
  await world.ask('POST', '/v1/chat/completions', { as: ada.key, body: { ...chat, model: MARK } })
  await ok('POST', `/api/keys/${ada.keyId}/rotate`)
  await ok('POST', '/api/tokens', { name: MARK, scopes: ['tasks:read'] })
  await ok('POST', '/api/sessions', { label: MARK, metadata: { of: MARK } })
  const project = await newProject(world, as, { name: MARK, description: MARK })
  const task = await newTask(world, as, project.id, { title: MARK, description: MARK })
  await patchTask(world, as, task.id, { output: MARK, status: 'done' })
  await patchTask(world, as, task.id, { output: `${MARK} again`, reviewComments: MARK })
  await ok('POST', `/api/projects/${project.id}/conversation/messages`, { text: MARK })
  await ok('POST', `/api/projects/${ada.projectId}/conversation/messages`, { text: MARK })
  await ok('DELETE', `/api/projects/${ada.projectId}/conversation`)
  const trashed = made(await upload(world, as, Buffer.from(MARK), { name: `${MARK}.txt` }))
  await ok('DELETE', `/api/user-files/${trashed.id}`)
  made(await upload(world, as, Buffer.from(`${MARK} 2`), { name: `${MARK}-2.txt` }))
  // The gateway writes failed requests once a second.
  await expect
    .poll(async () => having(await dump(world), MARK).some(([[kind]]) => kind === 'failed-request'))
    .toBe(true)
  return ada
}

/** What may be left of a person: by the id alone, as of who has invited somebody. */
const KINDS = ['audit', 'budget', 'erased', 'erasure', 'invitation', 'usage', 'usage-hour', 'usage-part', 'usage-total']

async function expectErased(world: World, { id, email }: Owner): Promise<void> {
  const entries = await dump(world)
  for (const text of [email, MARK, '203.0.113.']) expect(having(entries, text)).toEqual([])
  const left = new Set(having(entries, id).map(([[kind]]) => kind!))
  expect([...left].filter((kind) => !KINDS.includes(kind))).toEqual([])
  expect(await world.call('verify')).toEqual([])
}

const stores = [fileStore('memory'), ...durableStores]

describe.each(stores)('erasure of a person, on $name', ({ needed, create }) => {
  describe('', needs(...needed), () => {
    let world: World
    let admin: SignedIn
    let pieces: (() => Promise<string[]>) | undefined
    beforeAll(async () => {
      const made = await create()
      pieces = made.pieces
      world = await startWorld(made.storage, {
        ...made.env,
        RATE_LIMITER: 'memory',
        TRUSTED_HOPS: '1',
        KEEP_FAILED: 'true',
      })
      admin = await world.signedIn('admin')
    })
    afterAll(async () => {
      await world.kill()
      await endEngines()
    })
    const gone = async (id: string): Promise<void> => {
      expect((await remove(world, admin, id)).status).toBe(204)
      expect((await erase(world, admin, id)).status).toBe(204)
    }

    it('leaves usage and the audit log, by the id alone', { timeout: 60_000 }, async () => {
      const other = await newOwner(world)
      const before = (await pieces?.())?.toSorted()
      const ada = await newPerson(world, admin)
      const usage = async () => {
        const { body } = await world.ask<{ data: { id: string; requests: number; name: string | null }[] }>(
          'GET',
          '/admin/usage?by=user&hours=1',
          { as: admin },
        )
        return body.data.find((one) => one.id === ada.id)!
      }
      const used = await usage()
      expect(used.name).toBe(ada.email)
      await gone(ada.id)
      await expectErased(world, ada)
      expect((await pieces?.())?.toSorted()).toEqual(before)
      expect(await usage()).toEqual({ ...used, name: null })

      // Again, it is as it was; and there is nothing to restore.
      expect((await erase(world, admin, ada.id)).status).toBe(204)
      for (const path of [`/api/users/${ada.id}`, `/api/users/${ada.id}/balance`])
        expect((await world.ask('GET', path, { as: admin })).status).toBe(404)
      expect((await world.ask('POST', `/api/users/${ada.id}/restore`, { as: admin })).status).toBe(404)
      for (const as of [ada.access, ada.token])
        expect((await world.ask('GET', '/api/account', { as })).status).toBe(401)
      expect((await world.ask('GET', '/api/account', withCookie(ada.cookie))).status).toBe(401)
      expect((await world.ask('POST', '/v1/chat/completions', { as: ada.key, body: chat })).status).toBe(401)
      const page = await world.ask<unknown[]>('GET', `/api/users?after=${ada.id}&limit=1`, { as: admin })
      expect([page.status, page.body.length]).toEqual([200, 1])

      // What others have is there.
      for (const path of [`projects/${other.projectId}`, `tasks/${other.taskId}`, `user-files/${other.fileId}`])
        expect((await world.ask('GET', `/api/${path}`, { as: other })).status).toBe(200)
      expect((await world.ask('POST', '/v1/chat/completions', { as: other.key, body: chat })).status).toBe(200)
    })

    it('threat 142: a person is erased by nobody but administrators, and by no single request', async () => {
      const [ada, eve] = [await newOwner(world), await newOwner(world)]
      const ofAdmin = await newOwner(world, 'admin')
      expect((await erase(world, admin, ada.id)).status).toBe(400)
      expect((await world.ask('DELETE', `/api/users/${ada.id}?permanent=yes`, { as: admin })).status).toBe(400)
      expect((await world.ask('GET', '/api/account', { as: ada })).status).toBe(200)
      expect((await remove(world, admin, ada.id)).status).toBe(204)
      for (const as of [eve.access, eve.token, ofAdmin.token]) expect((await erase(world, as, ada.id)).status).toBe(403)
      expect((await erase(world, ada.token, ada.id)).status).toBe(401)
      expect((await erase(world, admin, unknownId)).status).toBe(404)
      expect((await world.ask('POST', `/api/users/${ada.id}/restore`, { as: admin })).status).toBe(200)
      expect((await world.ask('GET', '/api/projects', { as: await world.signIn(ada.email) })).body).toHaveLength(1)
    })

    it('threat 143: who gets the e-mail of an erased person is somebody else, and nobody gets the id, and so the usage', async () => {
      const ada = await newOwner(world)
      await gone(ada.id)
      await expect(world.call('createUser', { id: ada.id, email: 'eve@example.org' })).rejects.toThrow()
      const body = { email: ada.email, password: PASSWORD }
      const { id } = made(await world.ask<{ id: string }>('POST', '/api/users', { as: admin, body }))
      expect(id).not.toBe(ada.id)
      const own = await world.signIn(ada.email)
      for (const path of ['projects', 'user-files', 'tokens', 'sessions', 'tasks'])
        expect((await world.ask('GET', `/api/${path}`, { as: own })).body).toEqual([])
      const { body: usage } = await world.ask<{ total: { requests: number } }>('GET', '/api/usage?by=model', {
        as: own,
      })
      expect(usage.total.requests).toBe(0)
    })

    it('threat 144: what a request writes that was running is removed as well', { timeout: 60_000 }, async () => {
      const before = (await pieces?.())?.toSorted()
      const ada = await newOwner(world)
      let goOn!: () => void
      const erased = new Promise<void>((resolve) => (goOn = resolve))
      const bytes = formBytes([filePart(Buffer.from(MARK), `${MARK}.txt`)])
      const form = new ReadableStream<Uint8Array>({
        async start(controller) {
          controller.enqueue(bytes.subarray(0, -20))
          await erased
          controller.enqueue(bytes.subarray(-20))
          controller.close()
        },
      })
      const uploading = sendForm(world, ada, form)
      // Of an end user, whom the erasure does not find by the key any more.
      const endUsers = { endUsers: { budget: { usd: 1 } } }
      expect((await world.ask('PATCH', `/api/keys/${ada.keyId}`, { as: ada, body: endUsers })).status).toBe(200)
      async function* later(): AsyncGenerator<string> {
        await erased
        yield String(completion().body)
      }
      world.fault = () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: later() })
      const asked = { ...chat, user: `${MARK}@customer.example` }
      const asks = world.upstream.requests.length
      const asking = world.ask('POST', '/v1/chat/completions', { as: ada.key, body: asked })
      await expect.poll(() => world.upstream.requests.length).toBe(asks + 1)
      await expect
        .poll(async () =>
          having(await dump(world), ada.id).some(([, value]) => (value as { reason?: string }).reason === 'upload'),
        )
        .toBe(true)
      const stored = await dump(world)
      const late = [ada.id, ada.tokenId]
        .flatMap((id) => having(stored, id))
        .filter(([[kind]]) => ['token', 'token-hash', 'user-tokens', 'sign-in', 'user-sign-ins'].includes(kind!))
      await gone(ada.id)
      goOn()
      // Its space was given up, or its sender looked up again, whichever was first.
      expect([401, 503]).toContain((await uploading).status)
      expect((await asking).status).toBe(200)
      world.fault = undefined
      expect(having(await dump(world), 'customer.example').length).toBeGreaterThan(0)
      expect((await pieces?.())?.toSorted()).toEqual(before)
      // What a write that was on its way leaves is found for two hours.
      for (const [key, value] of late) await world.call('set', key, value)
      await world.call('set', ['balance', ada.id], { of: MARK })
      expect(having(await dump(world), ada.tokenId).length).toBeGreaterThan(2)
      expect(await world.call('finishErasures')).toBeGreaterThan(0)
      await expectErased(world, ada)
      await world.advance(2 * 3_600_000)
      await world.call('finishErasures')
      expect(await world.call('finishErasures')).toBe(0)
    })
  })
})

describe.each(durableStores)('threat 145: an erasure that is cut off by kill -9, on $name', ({ needed, create }) => {
  afterAll(endEngines)

  it.each<[how: string, goOn: (world: World, admin: SignedIn, id: string) => Promise<unknown>]>([
    ['at the next start', (world) => world.call('finishErasures')],
    ['by the same request', (world, admin, id) => erase(world, admin, id)],
  ])('goes on %s', { ...needs(...needed), timeout: 120_000 }, async (_, goOn) => {
    const { storage, env, pieces } = await create()
    const start = (): Promise<World> =>
      startWorld(storage, { ...env, RATE_LIMITER: 'memory', TRUSTED_HOPS: '1', KEEP_FAILED: 'true' })
    let world = await start()
    const admin = await world.signedIn('admin')
    const before = (await pieces!()).toSorted()
    const ada = await newPerson(world, admin)
    await world.call('addTasks', ada.id, ada.projectId, 2_000)
    await remove(world, admin, ada.id)
    const cut = erase(world, admin, ada.id).then(
      () => false,
      () => true,
    )
    await expect.poll(() => world.call('get', 'erasure', ada.id), { interval: 1 }).not.toBeNull()
    await world.kill()
    expect(await cut).toBe(true)

    world = await start()
    try {
      // The account went first, and what is left is whole. A link, which is good for nothing then, may be there still.
      expect(having(await dump(world), ada.email).filter(([[kind]]) => kind !== 'link')).toEqual([])
      expect(having(await dump(world), ada.id).some(([[kind]]) => !KINDS.includes(kind!))).toBe(true)
      expect(await world.call('verify')).toEqual([])
      await goOn(world, await world.signIn(admin.email), ada.id)
      await expectErased(world, ada)
      expect((await pieces!()).toSorted()).toEqual(before)
    } finally {
      await world.kill()
    }
  })
})

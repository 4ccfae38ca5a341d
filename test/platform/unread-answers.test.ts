import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { upload } from './files.js'
import { newProject, newTask, patchTask } from './work.js'
import type { SignedIn, World } from './world.js'
import { worldSuite } from './world.js'

const MEMORY = 48_000_000
/** Three such texts of a task make an answer of 9.4 MB, more than the buffers of sockets take. Four of these are what one user gets of the memory. */
const TEXT = '\u65e5'.repeat(1024 * 1024)

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

/** Sends a request whose answer is not read, apart from its beginning. @returns the status */
async function unread(world: World, path: string, as?: SignedIn): Promise<number> {
  const { hostname, port, host } = new URL(world.url)
  const socket = connect(Number(port), hostname).on('error', () => undefined)
  sockets.push(socket)
  const credential = as ? `authorization: Bearer ${as.access}\r\n` : ''
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n${credential}\r\n`)
  const [begin] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  return Number(begin.subarray(9, 12).toString())
}

/** How often a path is answered to clients that do not read, until it is 503. */
async function fill(...request: Parameters<typeof unread>): Promise<number> {
  for (let count = 0; ; count++) if ((await unread(...request)) !== 200) return count
}

worldSuite(
  'answers that are not read',
  (world) => {
    async function largeTask(as: SignedIn): Promise<{ id: string; projectId: string }> {
      const { id: projectId } = await newProject(world(), as)
      const { id } = await newTask(world(), as, projectId)
      for (const field of ['output', 'draft_output', 'review_comments'])
        expect((await patchTask(world(), as, id, { [field]: TEXT })).status).toBe(200)
      return { id, projectId }
    }

    it('threat 49: take from a limited memory, of which others have their share', { timeout: 60_000 }, async () => {
      const [ada, bob] = [await world().signedIn(), await world().signedIn()]
      const [{ id, projectId }, other] = [await largeTask(ada), await largeTask(bob)]
      const [task, list] = [`/api/tasks/${id}`, `/api/tasks?projectId=${projectId}`]
      for (const path of [list, task]) {
        expect(await fill(world(), path, ada)).toBe(4)
        const refused = await world().ask('GET', path, { as: ada })
        expect(refused).toMatchObject({ status: 503, body: { error: expect.stringContaining('no memory') as string } })
        expect((await world().ask('GET', `/api/tasks/${other.id}`, { as: bob })).status).toBe(200)
        // What is small is answered. A change whose answer is large was made, and is not to be sent again.
        expect((await world().ask('GET', '/api/account', { as: ada })).status).toBe(200)
        const { status, headers } = await patchTask(world(), ada, id, { status: 'done' })
        expect([status, headers.get('x-should-retry')]).toEqual([503, 'false'])
        expect((await world().ask('GET', `${task}/status`, { as: ada })).body).toMatchObject({ status: 'done' })
        for (const socket of sockets) socket.destroy()
        await expect.poll(async () => (await world().ask('GET', path, { as: ada })).status).toBe(200)
      }
    })

    it('threat 49: of files, also without a user', async () => {
      const ada = await world().signedIn()
      const { id } = (await upload(world(), ada, new Uint8Array(20_000_000), { before: { isPublic: 'true' } })).body
      const path = `/api/user-files/${id}/content`
      const count = await fill(world(), path)
      // A piece of a chunk, or the chunk, of each.
      expect(count).toBeGreaterThan(4)
      expect(count).toBeLessThan(200)
      for (const socket of sockets) socket.destroy()
      await expect.poll(async () => (await (await fetch(world().url + path)).arrayBuffer()).byteLength).toBe(20_000_000)
    })
  },
  { BODY_MEMORY: String(MEMORY) },
)

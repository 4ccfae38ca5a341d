import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { noise } from '../support/forms.js'
import { endEngines } from '../support/engines.js'
import { needs } from '../support/needs.js'
import { thorough } from '../support/scope.js'
import type { UserFile } from './files.js'
import { download, durableStores, listed, upload } from './files.js'
import type { SignedIn, World } from './world.js'
import { startWorld } from './world.js'

const ROUNDS = thorough ? 4 : 1
const bytes = noise(3_000_000)

describe.each([...durableStores])('files after kill -9, on $name', ({ needed, create }) => {
  afterAll(endEngines)

  it('have their bytes, and bytes without a file are found', { ...needs(...needed), timeout: 240_000 }, async () => {
    const { storage, env, pieces } = await create()
    const start = (): Promise<World> => startWorld(storage, { ...env, RATE_LIMITER: 'memory', TRASH_DAYS: '0' })
    let world = await start()
    const as = await world.signedIn()
    /** What an answer has said of each file: null = removed. */
    const told = new Map<string, UserFile | null>()
    let cutOff = 0

    for (let round = 0; round < ROUNDS; round++) {
      const user: SignedIn = round === 0 ? as : await world.signIn(as.email)
      const files = await listed(world, user)
      const process = { isRunning: true }
      let stored = 0
      /** Runs one after another until the process is gone. */
      const repeat = async (act: (i: number) => Promise<void>): Promise<void> => {
        for (let i = 0; process.isRunning; i++) await act(i).catch(() => cutOff++)
      }
      const change = async (method: string, path: string, id: string): Promise<void> => {
        // Nobody knows what became of a request without an answer.
        told.delete(id)
        const { status } = await world.ask(method, `/api/user-files/${path}`, { as: user })
        if (path.includes('permanent') && status === 204) told.set(id, null)
        // What is in the trash may be purged at any time.
        if (path.endsWith('/restore') && status === 200)
          told.set(
            id,
            files.find((file) => file.id === id)!,
          )
      }
      const work = [0, 1, 2].map((kind) =>
        repeat(async (i) => {
          const size = 100_000 + ((i * 7 + kind) % 3) * 1_400_000
          const { status, body } = await upload(world, user, bytes.subarray(0, size), {
            name: `${round}-${kind}-${i}.bin`,
          })
          if (status !== 200) return
          told.set(body.id, body)
          stored++
        }),
      )
      if (files.length >= 3)
        work.push(
          repeat((i) =>
            change('DELETE', files[0]!.id, files[0]!.id)
              .then(() => change('POST', `${files[0]!.id}/restore`, files[0]!.id))
              .then(() => sleep(i % 5)),
          ),
          repeat(async (i) => {
            const file = files[1 + i]
            if (!file) return sleep(5)
            if (i % 2 === 0) return change('DELETE', `${file.id}?permanent=true`, file.id)
            await change('DELETE', file.id, file.id)
            await world.call('purgeFiles')
            const { status } = await world.ask('GET', `/api/user-files/${file.id}`, { as: user })
            if (status === 404) told.set(file.id, null)
          }),
        )
      await sleep(500 + round * 37)
      await expect.poll(() => stored).toBeGreaterThan(3)
      await world.kill()
      process.isRunning = false
      await Promise.all(work)
      world = await start()
      await world.call('verifyFiles', 0)
      expect(await world.call('verify'), `round ${round}`).toEqual([])
    }

    expect(cutOff).toBeGreaterThan(0)
    const user = await world.signIn(as.email)
    const all = [...(await listed(world, user)), ...(await listed(world, user, true))]
    expect(all.length).toBeGreaterThan(3)
    for (const [id, file] of told)
      expect(
        all.some((one) => one.id === id),
        `${file?.display_name} is kept`,
      ).toBe(file !== null)
    for (const { url, size_bytes, deleted_at } of all)
      if (deleted_at === null) expect((await download(url)).bytes.equals(bytes.subarray(0, size_bytes))).toBe(true)
    const limits = await world.ask<object>('GET', '/api/account/limits', { as: user })
    expect(limits.body).toMatchObject({ storage_bytes_used: all.reduce((sum, { size_bytes }) => sum + size_bytes, 0) })
    // Without any file, nothing is left of the bytes.
    for (const { id } of all) await world.ask('DELETE', `/api/user-files/${id}?permanent=true`, { as: user })
    expect(await pieces!()).toEqual([])
    await world.kill()
  })
})

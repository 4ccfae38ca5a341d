import { expect, it } from 'vitest'
import type { UserFile } from './files.js'
import { download, filesSuite, listed, upload } from './files.js'
import { aTime } from './world.js'

const DAY_MS = 86_400_000

filesSuite('the trash', (world) => {
  it('#181 puts files into the trash', async () => {
    const as = await world().signedIn()
    const [{ body: kept }, { body }] = [await upload(world(), as, 'one'), await upload(world(), as, 'two')]
    const { body: open } = await upload(world(), as, 'three', { before: { isPublic: 'true' } })
    for (const { id } of [body, open])
      for (let again = 0; again < 2; again++)
        expect(await world().ask('DELETE', `/api/user-files/${id}`, { as })).toMatchObject({ status: 204, body: '' })
    expect((await listed(world(), as)).map(({ id }) => id)).toEqual([kept.id])
    const trash = await listed(world(), as, true)
    expect(trash.map(({ id, deleted_at }) => [id, deleted_at])).toEqual([
      [open.id, aTime],
      [body.id, aTime],
    ])
    for (const { url } of [body, open, ...trash]) expect((await download(url)).status).toBe(404)
    expect(await world().ask('GET', `/api/user-files/${body.id}`, { as })).toMatchObject({
      status: 200,
      body: { deleted_at: aTime },
    })
  })

  it('#182 takes files out of the trash', async () => {
    const as = await world().signedIn()
    const { body } = await upload(world(), as, 'again')
    await world().ask('DELETE', `/api/user-files/${body.id}`, { as })
    const restore = () => world().ask<UserFile>('POST', `/api/user-files/${body.id}/restore`, { as })
    const restored = await restore()
    expect(restored).toMatchObject({ status: 200, body: { id: body.id, deleted_at: null } })
    expect(await restore()).toMatchObject({ status: 200, body: restored.body })
    expect((await listed(world(), as)).map(({ id }) => id)).toEqual([body.id])
    expect(await listed(world(), as, true)).toEqual([])
    expect(await download(restored.body.url)).toMatchObject({ status: 200, text: 'again' })
  })

  it('removes for good what was in the trash for 30 days, or at once', async () => {
    const as = await world().signedIn()
    const [{ body: kept }, { body: old }, { body: now }] = [
      await upload(world(), as, 'kept'),
      await upload(world(), as, 'old'),
      await upload(world(), as, 'now'),
    ]
    await world().ask('DELETE', `/api/user-files/${old.id}`, { as })
    expect(await world().ask('DELETE', `/api/user-files/${now.id}?permanent=true`, { as })).toMatchObject({
      status: 204,
    })
    expect(await world().call('purgeFiles')).toBe(0)
    expect(await listed(world(), as, true)).toHaveLength(1)
    await world().advance(30 * DAY_MS + 1)
    try {
      expect(await world().call('purgeFiles')).toBeGreaterThan(0)
    } finally {
      await world().advance(-30 * DAY_MS - 1)
    }
    for (const { id, url } of [old, now]) {
      expect((await world().ask('GET', `/api/user-files/${id}`, { as })).status).toBe(404)
      expect((await download(url)).status).toBe(404)
    }
    expect(await listed(world(), as, true)).toEqual([])
    expect((await listed(world(), as)).map(({ id }) => id)).toEqual([kept.id])
    const { body } = await world().ask<object>('GET', '/api/account/limits', { as })
    expect(body).toMatchObject({ storage_bytes_used: 4 })
    expect(await world().call('verify')).toEqual([])
  })

  it('goes with its user, softly, and for good after 30 days; not with a project', async () => {
    const [as, root] = [await world().signedIn(), await world().signedIn('admin')]
    const { body: project } = await world().ask<{ id: string }>('POST', '/api/projects', { as, body: { name: 'A' } })
    const { body } = await upload(world(), as, 'mine', { before: { isPublic: 'true' } })
    await world().ask('DELETE', `/api/projects/${project.id}`, { as })
    expect((await download(body.url)).status).toBe(200)
    const remove = () => world().ask('DELETE', `/api/users/${as.id}`, { as: root })
    expect((await remove()).status).toBe(204)
    expect((await download(body.url)).status).toBe(404)
    await world().call('restore', as.id)
    expect((await download(body.url)).status).toBe(200)
    expect((await remove()).status).toBe(204)
    await world().advance(30 * DAY_MS + 1)
    try {
      expect(await world().call('purgeFiles')).toBeGreaterThan(0)
    } finally {
      await world().advance(-30 * DAY_MS - 1)
    }
    await world().call('restore', as.id)
    expect(await listed(world(), await world().signIn(as.email))).toEqual([])
    expect(await world().call('verify')).toEqual([])
  })
})

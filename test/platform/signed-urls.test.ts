import { expect, it, onTestFinished } from 'vitest'
import type { UserFile } from './files.js'
import { download, fileStore, filesSuite, listed, upload } from './files.js'
import type { SignedIn, World } from './world.js'
import { pairSuite } from './world.js'

const statusOf = async (url: string): Promise<number> => (await download(url)).status
const change = async (world: World, as: SignedIn, id: string, isPublic: boolean): Promise<UserFile> =>
  (await world.ask<UserFile>('PATCH', `/api/user-files/${id}`, { as, body: { isPublic } })).body

filesSuite('threat 39: a signed URL that outlives what its owner did', (world) => {
  it('ends where the file is made private', async () => {
    // A URL changes with each multiple of five minutes.
    await world().call('stopClock', true)
    onTestFinished(() => world().call('stopClock', false))
    const as = await world().signedIn()
    const { id, url } = (await upload(world(), as, 'mine')).body
    expect(await statusOf(url)).toBe(200)
    await change(world(), as, id, true)
    const hidden = await change(world(), as, id, false)
    expect([await statusOf(url), await statusOf(hidden.url)]).toEqual([403, 200])
    // It was private already, and a change of the name is none of who may read it.
    expect(await change(world(), as, id, false)).toMatchObject({ url: hidden.url })
    await world().ask('PATCH', `/api/user-files/${id}`, { as, body: { displayName: 'Other.txt' } })
    expect([await statusOf(url), await statusOf(hidden.url)]).toEqual([403, 200])
    expect((await listed(world(), as))[0]!.url).toBe(hidden.url)
  })

  it('ends where the file is put into the trash and taken out again', async () => {
    const as = await world().signedIn()
    const { id, url } = (await upload(world(), as, 'mine')).body
    const urls = [url]
    for (let again = 0; again < 2; again++) {
      await world().ask('DELETE', `/api/user-files/${id}`, { as })
      for (const old of urls) expect(await statusOf(old)).toBe(old === urls.at(-1) ? 404 : 403)
      const restored = await world().ask<UserFile>('POST', `/api/user-files/${id}/restore`, { as })
      for (const old of urls) expect(await statusOf(old)).toBe(403)
      expect(await statusOf(restored.body.url)).toBe(200)
      urls.push(restored.body.url)
    }
    expect(new Set(urls).size).toBe(3)
  })

  it('ends where the user is deleted and restored', async () => {
    const [admin, as] = [await world().signedIn('admin'), await world().signedIn()]
    const { id, url } = (await upload(world(), as, 'mine')).body
    await world().ask('DELETE', `/api/users/${as.id}`, { as: admin })
    expect(await statusOf(url)).toBe(404)
    await world().ask('POST', `/api/users/${as.id}/restore`, { as: admin })
    expect(await statusOf(url)).toBe(403)
    const again = await world().signIn(as.email)
    const { body } = await world().ask<UserFile>('GET', `/api/user-files/${id}`, { as: again })
    expect(await statusOf(body.url)).toBe(200)
  })
})

pairSuite(
  'threat 39: a signed URL',
  (pair) => {
    it('ends in both at once', async () => {
      const [one, other] = pair()
      const as = await one.signedIn()
      const { id, url } = (await upload(one, as, 'mine')).body
      const elsewhere = (at: string): string => at.replace(one.url, other.url)
      expect(await statusOf(elsewhere(url))).toBe(200)
      await change(one, as, id, true)
      const hidden = await change(one, as, id, false)
      expect([await statusOf(elsewhere(url)), await statusOf(elsewhere(hidden.url))]).toEqual([403, 200])
    })
  },
  {},
  [fileStore('redis')],
)

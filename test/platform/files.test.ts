import { expect, it } from 'vitest'
import { field, filePart, formBytes, noise } from '../support/forms.js'
import type { UserFile } from './files.js'
import { download, filesSuite, listed, sendForm, upload } from './files.js'
import { aTime, unknownId, uuid } from './world.js'

filesSuite('files', (world) => {
  it('#175 stores a file', async () => {
    const as = await world().signedIn()
    const bytes = noise(300_000)
    const { status, body } = await upload(world(), as, bytes, { name: 'sound.mp3', type: 'audio/mpeg' })
    expect([status, body]).toEqual([
      200,
      {
        id: uuid,
        display_name: 'sound.mp3',
        mime_type: 'audio/mpeg',
        size_bytes: 300_000,
        is_public: false,
        url: expect.stringMatching(
          `^${world().url}/api/user-files/${body.id}/content\\?exp=\\d+&sig=[\\w-]{43}$`,
        ) as string,
        storage_key: `${as.id}/${body.id}`,
        deleted_at: null,
        created_at: aTime,
      },
    ])
    expect((await download(body.url)).bytes.equals(bytes)).toBe(true)
    expect(await listed(world(), as)).toEqual([body])
    expect(await world().ask('GET', `/api/user-files/${body.id.toUpperCase()}`, { as })).toMatchObject({
      status: 200,
      body,
    })
  })

  it('#176 serves a private file by its URL to anybody until that expires', async () => {
    const as = await world().signedIn()
    const { body } = await upload(world(), as, 'secret')
    expect(await download(body.url)).toMatchObject({ status: 200, text: 'secret' })
    // Valid for an hour at least, and until the next multiple of five minutes: it is the same one for everybody who asks until then.
    const exp = Number(new URL(body.url).searchParams.get('exp'))
    expect(exp % 300).toBe(0)
    expect(exp - Date.now() / 1000).toBeGreaterThan(3_599)
    expect(exp - Date.now() / 1000).toBeLessThanOrEqual(3_900)
    await world().call('stopClock', true)
    try {
      await world().advance(3_900_000)
      expect(await download(body.url)).toMatchObject({ status: 403 })
      const [later] = await listed(world(), await world().signIn(as.email))
      expect(later!.url).not.toBe(body.url)
      expect(await download(later!.url)).toMatchObject({ status: 200 })
    } finally {
      await world().advance(-3_900_000)
      await world().call('stopClock', false)
    }
  })

  it('#177 refuses another signature, path or time', async () => {
    const as = await world().signedIn()
    const [{ body }, { body: other }] = [await upload(world(), as, 'one'), await upload(world(), as, 'two')]
    const [url, ofOther] = [new URL(body.url), new URL(other.url)]
    const [exp, sig] = [url.searchParams.get('exp')!, url.searchParams.get('sig')!]
    const at = (path: string, query: Record<string, string>): string =>
      `${world().url}${path}?${new URLSearchParams(query).toString()}`
    const wrong = [
      at(url.pathname, { exp, sig: ofOther.searchParams.get('sig')! }),
      at(ofOther.pathname, { exp, sig }),
      at(`/api/user-files/${unknownId}/content`, { exp, sig }),
      at(url.pathname, { exp: String(Number(exp) + 300), sig }),
      at(url.pathname, { exp: `0${exp}`, sig }),
      at(url.pathname, { exp: `${exp}.0`, sig }),
      at(url.pathname, { sig }),
      at(url.pathname, { exp, sig: '' }),
      at(url.pathname, { exp, sig: `${sig.slice(0, -1)}${sig.endsWith('A') ? 'B' : 'A'}` }),
      at(url.pathname, { exp, sig: `${sig}=` }),
      at(url.pathname, { exp, sig: sig.slice(0, 20) }),
    ]
    for (const one of wrong) {
      const reply = await download(one)
      expect([reply.status, JSON.parse(reply.text)], one).toEqual([
        403,
        { error: 'The URL is not valid, or not any more' },
      ])
    }
    // Without a signature it is as good as absent.
    expect((await download(at(url.pathname, { exp }))).status).toBe(404)
    expect(
      (
        await download(
          at(url.pathname.toUpperCase().replace('/API/USER-FILES', '/api/user-files').replace('CONTENT', 'content'), {
            exp,
            sig,
          }),
        )
      ).status,
    ).toBe(200)
  })

  it('#178 serves a public file at a URL that stays', async () => {
    const as = await world().signedIn()
    const { body } = await upload(world(), as, 'for all', { before: { isPublic: 'true' } })
    expect(body).toMatchObject({ is_public: true, url: `${world().url}/api/user-files/${body.id}/content` })
    expect(await download(body.url)).toMatchObject({ status: 200, text: 'for all' })
    expect((await listed(world(), as))[0]!.url).toBe(body.url)
  })

  it('#179 takes a public URL back', async () => {
    const as = await world().signedIn()
    const { body } = await upload(world(), as, 'for all', { before: { is_public: 'true' } })
    const patch = (fields: object) => world().ask<UserFile>('PATCH', `/api/user-files/${body.id}`, { as, body: fields })
    const hidden = await patch({ isPublic: false })
    expect(hidden).toMatchObject({
      status: 200,
      body: { ...body, is_public: false, url: expect.stringContaining('sig=') as string },
    })
    expect((await download(body.url)).status).toBe(404)
    expect((await download(hidden.body.url)).status).toBe(200)
    expect((await patch({ is_public: true })).body.url).toBe(body.url)
    expect((await download(body.url)).status).toBe(200)
    // A URL that was signed before leads to a public file as well.
    expect((await download(`${hidden.body.url}x`)).status).toBe(200)
  })

  it("#180 has no file of somebody else's", async () => {
    const [as, other] = [await world().signedIn(), await world().signedIn('admin')]
    const { body } = await upload(world(), as, 'mine')
    for (const id of [body.id, unknownId, 'nonsense', '..%2f', body.id.slice(0, -1)])
      for (const [method, path, fields] of [
        ['GET', id],
        ['PATCH', id, { displayName: 'x' }],
        ['PATCH', id, { displayName: 1 }],
        ['DELETE', id],
        ['DELETE', `${id}?permanent=true`],
        ['POST', `${id}/restore`],
      ] as const) {
        const reply = await world().ask(method, `/api/user-files/${path}`, { as: other, body: fields })
        expect([reply.status, reply.body], `${method} ${path}`).toEqual([404, { error: 'There is no such file' }])
      }
    expect(await listed(world(), other)).toEqual([])
    expect(await listed(world(), as)).toHaveLength(1)
  })

  it('#184 stores nothing of a truncated or wrong form', async () => {
    const as = await world().signedIn()
    const whole = formBytes([field('isPublic', 'true'), filePart(noise(200_000)), field('displayName', 'x')])
    const forms = [
      whole.subarray(0, 100_000),
      whole.subarray(0, whole.length - 4),
      whole.subarray(0, 60),
      formBytes([]),
      formBytes([field('file', 'a text')]),
      formBytes([filePart('a', 'a.txt', 'text/plain', 'other')]),
      formBytes([filePart('a'), filePart('b')]),
      formBytes([filePart('a'), field('isPublic', 'maybe')]),
      formBytes([field('isPublic', 'maybe'), filePart('a')]),
      formBytes([filePart('a'), field('displayName', ' ')]),
      formBytes([filePart('a'), field('displayName', 'ü'.repeat(128))]),
      formBytes([filePart('a'), field('displayName', 'a\u0007b')]),
      formBytes([field('displayName', 'one'), filePart('a'), field('displayName', 'two')]),
    ]
    for (const [i, form] of forms.entries()) {
      const { status, body } = await sendForm(world(), as, form)
      expect([status, Object.keys(body)], `form ${i}`).toEqual([400, ['error']])
    }
    expect((await world().ask('POST', '/api/user-files', { as, body: {} })).status).toBe(400)
    expect((await upload(world(), undefined, 'a')).status).toBe(401)
    expect(await listed(world(), as)).toEqual([])
    const limits = await world().ask<object>('GET', '/api/account/limits', { as })
    expect(limits.body).toMatchObject({ storage_bytes_used: 0 })
    expect(await world().call('verify')).toEqual([])
  })

  it('changes a name, and takes fields before the file and behind it', async () => {
    const as = await world().signedIn()
    const { body } = await upload(world(), as, 'a', { after: { display_name: 'Ein Ärger 😀.txt', isPublic: 'true' } })
    expect(body).toMatchObject({ display_name: 'Ein Ärger 😀.txt', is_public: true })
    const patch = (fields: object) => world().ask<UserFile>('PATCH', `/api/user-files/${body.id}`, { as, body: fields })
    expect((await patch({})).body).toEqual(body)
    expect((await patch({ id: unknownId, size_bytes: 1 })).body).toEqual(body)
    expect((await patch({ displayName: 'a/b: c?' })).body).toEqual({ ...body, display_name: 'a/b: c?' })
    for (const wrong of [
      { displayName: '' },
      { displayName: 1 },
      { displayName: 'x'.repeat(256) },
      { isPublic: 'true' },
    ])
      expect((await patch(wrong)).status, JSON.stringify(wrong)).toBe(400)
  })

  it('lists files newest first, as pages', async () => {
    const as = await world().signedIn()
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.unshift((await upload(world(), as, `${i}`)).body.id)
    expect((await listed(world(), as)).map(({ id }) => id)).toEqual(ids)
    const found: string[] = []
    for (let query = '?limit=2'; query;) {
      const { body, headers } = await world().ask<UserFile[]>('GET', `/api/user-files${query}`, { as })
      found.push(...body.map(({ id }) => id))
      query = /<(\?[^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? ''
    }
    expect(found).toEqual(ids)
    expect((await world().ask('GET', '/api/user-files?trashed=yes', { as })).status).toBe(400)
  })

  it('asks the upload check, which may refuse a file or hold it back', async () => {
    const as = await world().signedIn()
    expect(await upload(world(), as, 'bad', { name: 'virus.txt' })).toMatchObject({
      status: 400,
      body: { error: 'The file has a virus' },
    })
    expect(await listed(world(), as)).toEqual([])
    const { body } = await upload(world(), as, 'good?', { before: { displayName: 'doubtful.txt', isPublic: 'true' } })
    expect(await listed(world(), as)).toEqual([body])
    expect((await download(body.url)).status).toBe(404)
    await world().call('releaseFile', as.id, body.id)
    expect(await download(body.url)).toMatchObject({ status: 200, text: 'good?' })
    expect(await world().call('verify')).toEqual([])
  })
})

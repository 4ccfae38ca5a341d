import { expect, it } from 'vitest'
import { field, filePart, formBytes, noise } from '../support/forms.js'
import { download, filesSuite, lengthOf, listed, sendForm, upload } from './files.js'

const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex')

filesSuite('bytes of files', (world) => {
  it('sends the last bytes of an empty file, which are all', async () => {
    const { url } = (await upload(world(), await world().signedIn(), Buffer.alloc(0))).body
    const { status, text } = await download(url, { range: 'bytes=-1' })
    expect([status, text]).toEqual([200, ''])
    expect((await download(url, { range: 'bytes=0-' })).status).toBe(416)
  })

  it('#185 sends ranges', async () => {
    const as = await world().signedIn()
    const bytes = noise(2_500_000)
    const { url } = (await upload(world(), as, bytes, { type: 'application/zip' })).body
    const range = (value: string) => download(url, { range: value })
    for (const [value, from, to] of [
      ['bytes=0-3', 0, 4],
      ['bytes=1048570-1048580', 1_048_570, 1_048_581],
      ['bytes=2499999-', 2_499_999, 2_500_000],
      ['bytes=-5', 2_499_995, 2_500_000],
      ['bytes=1000000-9999999', 1_000_000, 2_500_000],
    ] as const) {
      const reply = await range(value)
      expect([reply.status, reply.headers.get('content-range'), lengthOf(reply.headers, to - from)], value).toEqual([
        206,
        `bytes ${from}-${to - 1}/2500000`,
        String(to - from),
      ])
      expect(reply.bytes.equals(bytes.subarray(from, to)), value).toBe(true)
    }
    const beyond = await range('bytes=2500000-')
    expect([
      beyond.status,
      beyond.headers.get('content-range'),
      Object.keys(JSON.parse(beyond.text) as object),
    ]).toEqual([416, 'bytes */2500000', ['error']])
    for (const value of ['bytes=0-3,5-6', 'lines=0-3', 'bytes=5-2']) {
      const whole = await range(value)
      expect([whole.status, lengthOf(whole.headers, 2_500_000), whole.bytes.equals(bytes)]).toEqual([
        200,
        '2500000',
        true,
      ])
    }
    const head = await download(url, { range: 'bytes=0-3' }, 'HEAD')
    expect([
      head.status,
      head.headers.get('content-length'),
      head.headers.get('accept-ranges'),
      head.bytes.length,
    ]).toEqual([200, '2500000', 'bytes', 0])
  })

  it('#186 sends no bytes that the client has', async () => {
    const as = await world().signedIn()
    const { url } = (await upload(world(), as, 'version 1')).body
    const { etag } = Object.fromEntries((await download(url)).headers) as { etag: string }
    expect(etag).toMatch(/^"[\da-f]{64}"$/)
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const reply = await download(url, { 'if-none-match': tag })
      expect([reply.status, reply.text, reply.headers.get('etag')]).toEqual([304, '', etag])
    }
    expect((await download(url, { 'if-none-match': '"x"' })).status).toBe(200)
    expect((await download(url, { 'if-match': etag })).status).toBe(200)
    expect((await download(url, { 'if-match': '"x"' })).status).toBe(412)
    expect(await download(url, { range: 'bytes=0-3', 'if-range': etag })).toMatchObject({ status: 206, text: 'vers' })
    for (const other of ['"x"', `W/${etag}`])
      expect(await download(url, { range: 'bytes=0-3', 'if-range': other })).toMatchObject({
        status: 200,
        text: 'version 1',
      })
    // The same bytes have the same tag.
    const again = (await upload(world(), as, 'version 1')).body.url
    expect((await download(again, { 'if-none-match': etag })).status).toBe(304)
  })

  it('#187 sends what could run scripts as a download, in a sandbox', async () => {
    const as = await world().signedIn()
    const script = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    // What pages would run, wherever it comes from.
    const sent: Record<string, string> = { 'text/javascript': 'application/octet-stream' }
    for (const [name, type, bytes, disposition] of [
      ['a.html', 'text/html', script, 'attachment'],
      ['a.svg', 'image/svg+xml', script, 'attachment'],
      ['a.xml', 'application/xml', script, 'attachment'],
      ['a.js', 'text/javascript', 'alert(1)', 'attachment'],
      ['a.png', 'image/png', script, 'attachment'],
      ['a.pdf', 'application/pdf', '%PDF-1.7', 'attachment'],
      ['a.txt', 'text/plain', Buffer.from([0xff, 0xfe, 0]), 'attachment'],
      ['a.txt', 'text/plain', Buffer.from(`${'a'.repeat(100_000)}\xe9`, 'latin1'), 'attachment'],
      ['a', 'made/up', 'anything', 'attachment'],
      ['a.png', 'image/png', png, 'inline'],
      ['a.gif', 'image/gif', 'GIF89a=1;alert(1)', 'inline'],
      ['a.txt', 'text/plain', script, 'inline'],
    ] as const) {
      const { body } = await upload(world(), as, bytes, { name, type, before: { isPublic: 'true' } })
      const { headers } = await download(body.url)
      expect(
        [
          headers.get('content-disposition')!.split(';')[0],
          headers.get('content-type'),
          headers.get('x-content-type-options'),
          headers.get('content-security-policy'),
        ],
        `${name} ${type}`,
      ).toEqual([
        disposition,
        sent[type] ?? (disposition === 'inline' && type === 'text/plain' ? 'text/plain; charset=utf-8' : type),
        'nosniff',
        expect.stringMatching(/^default-src 'none'; .*sandbox$/),
      ])
    }
  })

  it('#188 is safe whatever name a file has', async () => {
    const as = await world().signedIn()
    const of = async (head: string) => {
      const form = formBytes([{ head: [head, 'Content-Type: text/plain'], body: 'a' }])
      const { status, body } = await sendForm(world(), as, form)
      if (status !== 200) return status
      const { headers } = await download(body.url)
      return [body.display_name, headers.get('content-disposition')]
    }
    const named = (name: string) => of(`Content-Disposition: form-data; name="file"; filename="${name}"`)
    expect(await named('../../x')).toEqual(['x', `inline; filename="x"; filename*=UTF-8''x`])
    expect(await named('..\\\\..\\\\x.txt')).toEqual(['x.txt', `inline; filename="x.txt"; filename*=UTF-8''x.txt`])
    expect(await named('a: b')).toEqual(['a: b', `inline; filename="a: b"; filename*=UTF-8''a%3A%20b`])
    expect(await named('a%0d%0ab: c')).toEqual([
      'a%0d%0ab: c',
      `inline; filename="a_0d_0ab: c"; filename*=UTF-8''a%250d%250ab%3A%20c`,
    ])
    expect(await named('日本語 😀.txt')).toEqual([
      '日本語 😀.txt',
      `inline; filename="___ __.txt"; filename*=UTF-8''%E6%97%A5%E6%9C%AC%E8%AA%9E%20%F0%9F%98%80.txt`,
    ])
    const long = (await named(`${'x'.repeat(3_000)}.txt`)) as [string, string]
    expect(long[0]).toBe(`${'x'.repeat(251)}.txt`)
    expect(await named('')).toEqual(['file', `inline; filename="file"; filename*=UTF-8''file`])
    const extended = await of(`Content-Disposition: form-data; name="file"; filename*=UTF-8''%C3%A4.txt`)
    expect(extended).toEqual(['ä.txt', `inline; filename="_.txt"; filename*=UTF-8''%C3%A4.txt`])
    // A name that a client gives by hand may have slashes; the header that carries it must not.
    const { body } = await upload(world(), as, 'a', { before: { displayName: '../\u202egpj.exe"' } })
    expect(body.display_name).toBe('../\u202egpj.exe"')
    expect((await download(body.url)).headers.get('content-disposition')).toBe(
      `inline; filename="..__gpj.exe_"; filename*=UTF-8''..__gpj.exe%22`,
    )
    for (const key of (await listed(world(), as)).map(({ storage_key }) => storage_key))
      expect(key).toMatch(/^[0-9a-f-]{36}\/[0-9a-f-]{36}$/)
  })

  it('#189 keeps a safe type for a PNG with another name or type', async () => {
    const as = await world().signedIn()
    const named = (await upload(world(), as, png, { name: 'page.html', type: 'image/png' })).body
    expect(Object.fromEntries((await download(named.url)).headers)).toMatchObject({
      'content-type': 'image/png',
      'content-disposition': expect.stringContaining('inline') as string,
      'x-content-type-options': 'nosniff',
    })
    const typed = (await upload(world(), as, png, { name: 'page.html', type: 'text/html; charset=utf-8' })).body
    expect(typed.mime_type).toBe('text/html')
    expect(Object.fromEntries((await download(typed.url)).headers)).toMatchObject({
      'content-disposition': expect.stringContaining('attachment') as string,
      'x-content-type-options': 'nosniff',
    })
    for (const [type, stored] of [
      ['IMAGE/PNG', 'image/png'],
      ['text/html, x', 'application/octet-stream'],
      ['nonsense', 'application/octet-stream'],
      [`${'a'.repeat(200)}/b`, 'application/octet-stream'],
    ] as const)
      expect((await upload(world(), as, png, { type })).body.mime_type).toBe(stored)
  })

  it('lets shared caches keep public files for five minutes, and no private ones', async () => {
    const as = await world().signedIn()
    const [{ body: open }, { body: own }] = [
      await upload(world(), as, 'a', { before: { isPublic: 'true' } }),
      await upload(world(), as, 'a'),
    ]
    expect(Object.fromEntries((await download(open.url)).headers)).toMatchObject({
      'cache-control': 'public, max-age=300, must-revalidate',
      'cross-origin-resource-policy': 'cross-origin',
      'referrer-policy': 'no-referrer',
      vary: 'Origin',
    })
    expect(Object.fromEntries((await download(own.url)).headers)).toMatchObject({
      'cache-control': 'private, no-store',
      'cross-origin-resource-policy': 'same-site',
      'referrer-policy': 'no-referrer',
    })
    for (const { url } of [open, own]) expect((await download(url)).headers.get('set-cookie')).toBeNull()
  })

  it('are empty in an empty file', async () => {
    const as = await world().signedIn()
    const { status, body } = await sendForm(world(), as, formBytes([field('isPublic', 'true'), filePart('')]))
    expect([status, body.size_bytes]).toEqual([200, 0])
    const whole = await download(body.url)
    expect([whole.status, whole.text, whole.headers.get('content-length')]).toEqual([200, '', '0'])
    expect((await download(body.url, { range: 'bytes=0-' })).status).toBe(416)
  })
})

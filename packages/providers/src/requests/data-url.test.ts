import { describe, expect, it, vi } from 'vitest'
import { parseDataUrl } from './data-url.js'

describe('a data URL', () => {
  it.each([
    ['data:image/png;base64,iVBORw0KGgo=', 'image/png', 'iVBORw0KGgo='],
    ['DATA:IMAGE/PNG;BASE64,iVBORw0KGgo=', 'image/png', 'iVBORw0KGgo='],
    ['data:image/jpg;base64,/9j/', 'image/jpeg', '/9j/'],
    ['data:image/png;base64,iVBORw0KGgo%3D', 'image/png', 'iVBORw0KGgo='],
    ['data:image/png;base64,iVBO%0D%0ARw0KGgo%3d', 'image/png', 'iVBORw0KGgo='],
    ['data:image/png;base64,%2B%2f8=', 'image/png', '+/8='],
    ['data:image/png,%89PNG%0D%0A', 'image/png', btoa('\x89PNG\r\n')],
    ['data:text/plain;charset=utf-8,gr%C3%BC%C3%9F', 'text/plain', btoa('gr\xc3\xbc\xc3\x9f')],
    ['data:,grüß 😀', 'text/plain', 'Z3LDvMOfIPCfmIA='],
    ['data:,', 'text/plain', ''],
  ])('%s is read', (url, type, data) => expect(parseDataUrl(url)).toEqual({ type, data }))

  it.each(['data:,%', 'data:,%ZZ', 'data:,%4', 'data:image/png;base64,AA%3', 'data:,\ud800'])('%j is refused', (url) =>
    expect(() => parseDataUrl(url)).toThrow('A data URL is malformed'),
  )

  it('with a head that no media type has is refused', () => {
    expect(parseDataUrl(`data:text/plain;a=${'b'.repeat(300)},x`)).toMatchObject({ type: 'text/plain' })
    expect(() => parseDataUrl(`data:${';'.repeat(1_000)},x`)).toThrow('A data URL is malformed')
  })

  it('of megabytes is decoded by its bytes, without a call for each', () => {
    const called = vi.spyOn(String, 'fromCharCode')
    const parsed = vi.spyOn(globalThis, 'parseInt')
    const { data } = parseDataUrl(`data:image/png,${'%41%fF'.repeat(100_000)}${'é'.repeat(100_000)}`)!
    expect([called.mock.calls.length + parsed.mock.calls.length, data.length]).toEqual([0, Math.ceil(400_000 / 3) * 4])
    vi.restoreAllMocks()
  })

  it.each(['https://example.com/data:,', 'data:image/png', 'dat:,', ''])('%j is none', (url) =>
    expect(parseDataUrl(url)).toBeUndefined(),
  )
})

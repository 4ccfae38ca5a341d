import { expect, it } from 'vitest'
import { fetchShell } from '../shells/fetch-shell.js'
import { createHandler } from '../handler.js'
import type { OpenApiDocument } from '../openapi.js'
import { openapi, openapiRoute } from '../openapi.js'

const document = (): OpenApiDocument =>
  openapi<'open'>({
    info: { title: 'Pets', version: '1.0.0', description: 'Ümläute.' },
    routes: [],
    components: {},
    error: 'Error',
    statuses: {},
    access: { open: { who: 'For anybody.', security: [], errors: [] } },
    securitySchemes: {},
    headers: {},
    shown: { parameters: [], statuses: [] },
  })

it('a document is made at the first request, and sent whole, in part or not at all', async () => {
  let made = 0
  const at = openapiRoute<null, 'open'>('/openapi.json', {
    access: 'open',
    summary: 'Describes it.',
    document: () => (made++, document()),
  })
  expect(at.operation).toMatchObject({ id: 'openapi', access: 'open', summary: 'Describes it.' })
  const { handle } = createHandler<null, 'open'>({ routes: [at], authenticate: () => null, errorBody: () => ({}) })
  const shell = fetchShell(handle)
  const get = (headers: Record<string, string> = {}) =>
    shell(new Request('https://x.example/openapi.json', { headers }))
  expect(made).toBe(0)

  const [whole, same] = await Promise.all([get(), get()])
  expect(whole.headers.get('content-type')).toBe('application/json; charset=utf-8')
  const text = await whole.text()
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(document())))
  expect(await same.text()).toBe(text)
  expect(made).toBe(1)

  const etag = whole.headers.get('etag')!
  expect(etag).toMatch(/^"[0-9a-f]{64}"$/)
  const fresh = await get({ 'if-none-match': etag })
  expect([fresh.status, await fresh.text()]).toEqual([304, ''])
  const part = await get({ range: 'bytes=2-8' })
  expect([part.status, await part.text()]).toEqual([206, text.slice(2, 9)])
  expect(made).toBe(1)
})

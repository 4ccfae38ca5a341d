import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { ApiDocument, ApiDocuments } from './document.js'
import { readDocuments } from './document.js'
import { docsBody } from './page.js'
import { snippetsOf } from './snippets.js'

const read = (name: string): ApiDocument =>
  JSON.parse(readFileSync(new URL(`../../../../docs/openapi/${name}.json`, import.meta.url), 'utf8')) as ApiDocument
const documents: ApiDocuments = { gateway: read('gateway'), platform: read('platform') }
const operations = readDocuments(documents).flatMap((api) => api.operations)
const page = docsBody(documents)

const decode = (text: string): string =>
  text.replaceAll(
    /&(amp|lt|gt|quot|#39);/g,
    (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[name]!,
  )

const attribute = (name: string, html = page): string[] =>
  [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value]) => decode(value!))

/** The section of an operation. */
const sectionOf = (anchor: string): string =>
  page.slice(page.indexOf(`<div class="op-body" id="${anchor}">`)).split('</form>')[0]!

describe('the page of the documents of the reference server', () => {
  it('has a section with a form and code for each operation', () => {
    expect(operations.length).toBeGreaterThan(70)
    const wrong = operations.filter((operation) => {
      const section = sectionOf(operation.anchor)
      const parts = [operation.operationId, '<h4>curl</h4>', '<h4>TypeScript</h4>', `data-path="${operation.path}"`]
      return !parts.every((part) => section.includes(part))
    })
    expect(wrong.map(({ anchor }) => anchor)).toEqual([])
  })

  it('has every place once, and every link leads to one', () => {
    const ids = attribute('id')
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
    const lost = attribute('href').filter((to) => to.startsWith('#') && !ids.includes(decodeURIComponent(to.slice(1))))
    expect(lost).toEqual([])
    expect(ids).toEqual(expect.arrayContaining(['keys.create', 'gateway.users.create', 'platform.users.create']))
  })

  it('has no link that depends on where it is mounted', () => {
    expect(attribute('href').filter((to) => !/^(#|\.\/)/.test(to))).toEqual([])
  })

  it('shows the fields of a body, their bounds, and what is ours', () => {
    const section = sectionOf('keys.create').replaceAll(/\s+/g, ' ')
    expect(section).toContain('For developers and administrators.')
    expect(section).toMatch(/<code class="name">rateLimit<\/code ?><code class="type">integer \| null<\/code ?>/)
    expect(section).toContain('1 to 1,000,000')
    expect(section).toContain('href="#platform/schemas/GatewayKey"')
    expect(section).toMatch(/<dt>408<\/dt> <dd>The request body stood still\. <span class="badge amber">ours<\/span>/)
    const chat = sectionOf('chat.completions')
    expect(chat).toContain('a stream of events with data')
    expect(chat).toContain('data-asks="bill"')
    expect(sectionOf('projects.remove')).toContain('data-asks="change"')
    expect(sectionOf('projects.get')).not.toContain('data-asks')
  })
})

it('quotes values for the shell', () => {
  const [hello] = readDocuments({
    odd: {
      info: { title: '', version: '' },
      paths: {
        '/a"$x/{id}': {
          put: {
            operationId: 'odd',
            parameters: [{ name: 'id', in: 'path', required: true }],
            requestBody: { content: { 'application/json': { example: { text: "it's $HOME" } } } },
            responses: {},
          },
        },
      },
      components: {},
    },
  })
  expect(snippetsOf(hello!.operations[0]!)[0]!.text).toBe(
    `curl -X PUT "http://127.0.0.1:8787/a\\"\\$x/$ID" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"text":"it'\\''s $HOME"}'`,
  )
})

describe('a document with markup in every text and every name', () => {
  const NASTY = `<img src=x onerror="alert(1)">'"\`&lt;\${x}`
  /** The names that OpenAPI and JSON Schema define, and the values that the page looks for. */
  const known = new Set(
    (
      'openapi info title version description servers url paths components schemas responses headers securitySchemes get post put patch ' +
      'delete operationId summary tags security parameters requestBody content name in required schema $ref type format enum const ' +
      'anyOf oneOf items properties additionalProperties minimum maximum minLength maxLength minItems maxItems pattern contentSchema ' +
      'contentMediaType x-convention scheme bearer example path query header string integer number boolean array object null'
    ).split(' '),
  )
  const spoil = (value: unknown): unknown => {
    if (typeof value === 'string') return known.has(value) ? value : value + NASTY
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(spoil)
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [known.has(name) ? name : name + NASTY, spoil(inner)]),
    )
  }
  const spoilt = docsBody(spoil(documents) as ApiDocuments)
  const tag = /<\/?([a-z][a-z\d]*)((?:\s+[a-zA-Z-]+(?:="[^"<>]*")?)*)\s*\/?>/g

  /** The tags of a page with the names of their attributes. */
  const tagsOf = (html: string): Set<string> =>
    new Set(
      [...html.matchAll(tag)].map(([, name, attributes]) =>
        [name, ...[...attributes!.matchAll(/\s([a-zA-Z-]+)(?:="[^"]*")?/g)].map((match) => match[1])].join(' '),
      ),
    )

  it('makes a page with no other tags and attributes', () => {
    expect(spoilt.length).toBeGreaterThan(page.length)
    expect(spoilt).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&#39;&quot;')
    const known = tagsOf(page)
    expect([...tagsOf(spoilt)].filter((one) => !known.has(one))).toEqual([])
    // Whatever begins like a tag is one of these.
    expect(spoilt.replaceAll(tag, '')).not.toContain('<')
  })

  it('has as many operations', () => {
    expect(spoilt.split('class="op-body"').length).toBe(page.split('class="op-body"').length)
  })
})

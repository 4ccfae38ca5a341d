import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { documentFile } from './support/contract.js'
import { blocksOf, readPage } from './support/page.js'

interface Schema {
  $ref?: string
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
}
interface Answer {
  content?: Record<string, { schema: Schema & { contentSchema?: Schema } }>
}
const { paths, components } = JSON.parse(readFileSync(documentFile, 'utf8')) as {
  paths: Record<string, Record<string, { responses: Record<string, Answer> }>>
  components: { schemas: Record<string, Schema> }
}

/** The sections of docs/admin.md about a route. */
const sections = readPage('docs/admin.md')
  .split(/^## /m)
  .flatMap((text) => {
    const [, method, path] = /^(GET|POST) (\S+)\n/.exec(text) ?? []
    return method === undefined ? [] : [{ route: `${method} ${path}`, method, path: path!, text }]
  })

const resolve = (schema: Schema): Schema[] => {
  if (schema.$ref) return resolve(components.schemas[schema.$ref.split('/').at(-1)!]!)
  return schema.anyOf ? schema.anyOf.flatMap(resolve) : [schema]
}

/** The fields of an example that its schema does not have. `…` stands for fields that are left out. */
function unknownFields(value: unknown, schema: Schema, at = ''): string[] {
  const schemas = resolve(schema)
  if (Array.isArray(value))
    return value.flatMap((item) => schemas.flatMap(({ items }) => (items ? unknownFields(item, items, `${at}[]`) : [])))
  if (typeof value !== 'object' || value === null) return []
  const known = schemas.flatMap(({ properties }) => (properties ? [properties] : []))
  const isOpen = schemas.some(({ additionalProperties }) => additionalProperties)
  return Object.entries(value).flatMap(([name, field]) => {
    const found = known.find((properties) => name in properties)?.[name]
    if (found) return unknownFields(field, found, `${at}.${name}`)
    return name === '…' || isOpen ? [] : [`${at}.${name}`]
  })
}

it('has an example for each route that answers JSON', () => {
  expect(sections.map(({ route }) => route)).toContain('GET /admin/audit')
  expect(sections.length).toBe(18)
})

it.each(sections)('has examples with fields of the OpenAPI document: $route', ({ method, path, text }) => {
  const { content } = paths[path]![method!.toLowerCase()]!.responses['200']!
  const events = blocksOf(text, 'text').flatMap((code) => [...code.matchAll(/^data: (.*)$/gm)].map(([, data]) => data!))
  const examples = [...blocksOf(text, 'json'), ...events].map((code): unknown => JSON.parse(code))
  expect(examples).not.toEqual([])
  const [{ schema }] = Object.values(content!) as [{ schema: Schema & { contentSchema?: Schema } }]
  for (const example of examples) expect(unknownFields(example, schema.contentSchema ?? schema)).toEqual([])
})

import { readFileSync } from 'node:fs'
import { memoryKV } from '@turnpike/core'
import type { PlatformRoute } from '@turnpike/platform'
import { createPlatform, passwordAuth } from '@turnpike/platform'
import { openapi } from '@turnpike/platform/openapi'
import { unstorageBlobs } from '@turnpike/storage'
import memoryDriver from 'unstorage/drivers/memory'
import { beforeAll, describe, expect, it } from 'vitest'
import * as conventions from '../packages/platform/src/conventions.js'

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const page = read('docs/conventions.md')

interface Schema {
  $ref?: string
  type?: string
  items?: Schema
  properties?: Record<string, Schema & { 'x-convention'?: true }>
  required?: string[]
  'x-convention'?: true
}
interface Described {
  'x-convention'?: true
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}
const document = JSON.parse(read('docs/openapi/platform.json')) as {
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema> }
}

/** The rows of the table of a section, by the names of its columns. */
function tableOf(heading: string): Record<string, string>[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`))!
  const [head, , ...rows] = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.slice(2, -2).split(' | '))
  return rows.map((cells) => Object.fromEntries(head!.map((name, i) => [name, cells[i]!.replaceAll('`', '').trim()])))
}

/** The schema of a JSON body or a form. */
const schemaOf = ({ content }: { content: Record<string, { schema: Schema }> }): Schema =>
  (content['application/json'] ?? content['multipart/form-data'])!.schema

const nameOf = ({ $ref }: Schema): string | undefined => $ref?.split('/').at(-1)
const resolve = (schema: Schema): Schema => document.components.schemas[nameOf(schema) ?? ''] ?? schema

/** How a body or query is written in the column "Payload". */
function payloadOf({ requestBody, parameters = [] }: Described): string {
  const body = requestBody && resolve(schemaOf(requestBody))
  const query = parameters.filter(({ in: place }) => place === 'query').map(({ name }) => name)
  if (!body) return query.length > 0 ? `?${query.join('&')}` : '–'
  const fields = Object.keys(body.properties!).map((name) => (body.required?.includes(name) ? name : `${name}?`))
  return `{ ${fields.join(', ')} }`
}

/** How an answer is written in the column "Answer". */
function answerOf({ responses }: Described, { operation, status }: PlatformRoute): string {
  const schema = responses[status]!.content?.['application/json']?.schema
  const fields = schema && Object.keys(resolve(schema).properties ?? {}).join(', ')
  const shape = schema && (schema.items ? `[${nameOf(schema.items)}]` : (nameOf(schema) ?? `{ ${fields} }`))
  const errors = operation.errors?.join(', ')
  return [String(status), ...(shape ? [` ${shape}`] : []), ...(errors ? [`; ${errors}`] : [])].join('')
}

let routes: readonly PlatformRoute[]
beforeAll(async () => {
  const kv = await memoryKV()
  ;({ routes } = createPlatform({
    kv,
    identity: passwordAuth({ kv }),
    files: { blobs: unstorageBlobs(memoryDriver()) },
    routes: [openapi()],
  }))
})

/** What the table says of a route. */
const rowOf = (route: PlatformRoute): Record<string, string> => {
  const { method, path, operation } = route
  const described = document.paths[path]![method.toLowerCase()]!
  expect([method, path, described['x-convention'] ?? false]).toEqual([method, path, route.convention ?? false])
  return {
    Method: method,
    Path: path,
    Payload: payloadOf(described),
    Role: operation.access,
    Answer: answerOf(described, route),
  }
}

describe('docs/conventions.md', () => {
  it.each([
    ['Routes of ours', true],
    ['Routes of the API, with payloads or roles of ours', false],
  ])('has the table "%s" of the route table and the OpenAPI document', (heading, convention) => {
    const actual = routes.filter((route) => (route.convention ?? false) === convention).map(rowOf)
    expect(tableOf(heading)).toEqual(actual)
  })

  it('has every page of the reference server', () => {
    const gateway = JSON.parse(read('docs/openapi/gateway.json')) as typeof document
    const pages = Object.entries(gateway.paths).filter(([, { get }]) => get?.responses['200']?.content?.['text/html'])
    expect(tableOf('Pages').map(({ Path }) => Path)).toEqual(pages.map(([path]) => path))
    expect(pages.filter(([, { get }]) => !get!['x-convention'])).toEqual([])
  })

  it('has every route of the document', () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(described.toSorted()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).toSorted())
  })

  it('is right that fields of bodies are taken in the other spelling as well', () => {
    const other = (name: string): string =>
      name.includes('_')
        ? name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
        : name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    const aliases = routes.map(({ method, path, operation }) => {
      const fields = Object.keys(resolve(requestOf(method, path)).properties ?? {})
      const expected = fields.filter((name) => other(name) !== name).map((name) => [other(name), name])
      expect([method, path, operation.aliases ?? {}]).toEqual([method, path, Object.fromEntries(expected)])
      return expected
    })
    expect(aliases.flat().length).toBeGreaterThan(20)
  })

  it('has every field that the document marks in answers', () => {
    const bodies = new Set(routes.map(({ method, path }) => nameOf(requestOf(method, path))))
    const marked = Object.entries(document.components.schemas)
      .filter(([name]) => !bodies.has(name))
      .map(([name, schema]) => {
        const isOurs = schema['x-convention'] === true
        const fields = Object.entries(schema.properties ?? {}).filter(([, field]) => isOurs || field['x-convention'])
        return { Schema: name, Fields: fields.map(([field]) => field).join(', ') }
      })
      .filter(({ Fields }) => Fields !== '')
    const sorted = (rows: Record<string, string>[]) => rows.toSorted((a, b) => a['Schema']!.localeCompare(b['Schema']!))
    expect(sorted(tableOf('Schemas and fields'))).toEqual(sorted(marked))
  })

  it('has every value of conventions.ts', () => {
    const rows = tableOf('Values').map(({ Constant, Value }) => [Constant!, JSON.parse(Value!) as unknown])
    expect(Object.fromEntries(rows)).toEqual({ ...conventions })
    expect(rows).toHaveLength(Object.keys(conventions).length)
  })
})

/** The schema of the body of a route; an empty one where it takes none. */
function requestOf(method: string, path: string): Schema {
  const { requestBody } = document.paths[path]![method.toLowerCase()]!
  return requestBody ? schemaOf(requestBody) : {}
}

import { readFileSync, writeFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentFile, platformDocumentFile } from '../support/contract.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

interface Described {
  operationId: string
  requestBody?: { content: Record<string, { schema: object; example?: object }> }
}

let server: Server
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

/** docs/openapi/… are what the reference server tells. `UPDATE=1` writes them anew. */
describe.each([
  { path: '/v1/openapi.json', file: documentFile, references: 100 },
  { path: '/api/openapi.json', file: platformDocumentFile, references: 50 },
])('GET $path of the reference server', ({ path, file, references: least }) => {
  let document: Record<string, unknown>
  beforeAll(async () => {
    const response = await fetch(`${server.url}${path}`)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    document = (await response.json()) as Record<string, unknown>
  })

  it('is the golden file', () => {
    const text = `${JSON.stringify(document, null, 2)}\n`
    if (process.env['UPDATE']) writeFileSync(file, text)
    else expect(readFileSync(file, 'utf8')).toBe(text)
  })

  it('passes the official schema of OpenAPI 3.1, and every reference leads somewhere', async () => {
    const validator = new Validator()
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true })
    expect(validator.version).toBe('3.1')
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"(#[^"]+)"/g)].map(([, to]) => to!)
    expect(references.length).toBeGreaterThan(least)
    const lost = references.filter(
      (to) =>
        to
          .slice(2)
          .split('/')
          .reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], document) === undefined,
    )
    expect(lost).toEqual([])
  })

  it('has patterns that every engine reads', () => {
    const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
      ([, text]) => JSON.parse(text!) as string,
    )
    expect(patterns.length).toBeGreaterThan(0)
    // Python's `re` has no properties, Go's RE2 no lookaround, references and `\u`; JavaScript without flags no `\x{…}`.
    for (const pattern of new Set(patterns)) {
      expect(pattern).not.toMatch(/\\[pPuUk\d]|\(\?[^:]|\\x\{|[*+?}][+?]/)
      expect(() => [new RegExp(pattern), new RegExp(pattern, 'u')]).not.toThrow()
    }
  })

  it('has examples of bodies that their schemas allow', () => {
    const ajv = new Ajv2020({ strict: false })
    formats.default(ajv)
    ajv.addSchema({ $id: 'api', ...document })
    const bodies = Object.values(document['paths'] as Record<string, Record<string, Described>>)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ operationId, requestBody }) =>
        Object.entries(requestBody?.content ?? {}).map(([type, body]) => ({ operationId, type, ...body })),
      )
      .filter(({ example }) => example)
    expect(bodies.length).toBeGreaterThan(5)
    for (const { operationId, type, example, schema } of bodies) {
      const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')) as object)
      // The example of a form is without its file.
      validate(type.startsWith('multipart/') ? { file: '', ...example } : example)
      expect([operationId, validate.errors]).toEqual([operationId, null])
    }
  })

  it.runIf(file === documentFile)('names every route of the root information', async () => {
    const { endpoints } = (await (await fetch(server.url)).json()) as { endpoints: Record<string, string> }
    const described = Object.entries(
      document['paths'] as Record<string, Record<string, { operationId: string }>>,
    ).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [operationId, `${method.toUpperCase()} ${path}`]),
    )
    expect(Object.fromEntries(described)).toEqual(endpoints)
  })
})

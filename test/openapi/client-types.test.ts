import { readFileSync, writeFileSync } from 'node:fs'
import openapiTS, { astToString } from 'openapi-typescript'
import { expect, it } from 'vitest'
import { documentFile, platformDocumentFile } from '../support/contract.js'

const folder = new URL('../../packages/client/src/api/', import.meta.url)

interface Schema {
  contentMediaType?: string
  contentSchema?: Schema
}
interface Document {
  paths: Record<string, object>
  components: { schemas: Record<string, { properties?: Record<string, Schema> }> }
}

const read = (file: URL): Document => JSON.parse(readFileSync(file, 'utf8')) as Document

/** The gateway for browsers: what a gateway serves without its users, below `/api/gateway`. */
function browserGateway(document: Document): Document {
  const served = Object.entries(document.paths).filter(([path]) => /^\/v1\/(?!users|openapi)/.test(path))
  return { ...document, paths: Object.fromEntries(served.map(([path, item]) => [`/api/gateway${path}`, item])) }
}

/** The document with the schema of each event in place of that of the text of a stream. */
const withEvents = (document: Document): Document =>
  JSON.parse(JSON.stringify(document), (_, value: Schema | null) =>
    value?.contentMediaType === 'text/event-stream' ? value.contentSchema : value,
  ) as Document

const header =
  '// Made from the OpenAPI document by test/openapi/client-types.test.ts: do not edit.\n/* eslint-disable max-lines */\n'

// `UPDATE=1` writes them anew.
it.each([
  ['platform', read(platformDocumentFile)],
  ['gateway', browserGateway(read(documentFile))],
])('the types of the client are those of the document: %s.ts', async (name, document) => {
  const nodes = await openapiTS(withEvents(document) as unknown as Parameters<typeof openapiTS>[0])
  const text = header + astToString(nodes)
  const file = new URL(`${name}.ts`, folder)
  if (process.env['UPDATE']) writeFileSync(file, text)
  expect(text).toBe(readFileSync(file, 'utf8'))
})

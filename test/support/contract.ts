import { readFileSync } from 'node:fs'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { Gateway } from '@turnpike/gateway'
import { gatewayDocument } from '@turnpike/gateway/openapi'
import { CLIENT_LEFT } from '@turnpike/http'
import { isPlatformPath } from '@turnpike/platform'
import { uuidv7Pattern } from './patterns.js'

/** The golden OpenAPI document of the gateway. */
export const documentFile = new URL('../../docs/openapi/gateway.json', import.meta.url)
/** That of the platform. */
export const platformDocumentFile = new URL('../../docs/openapi/platform.json', import.meta.url)

type Json = Record<string, unknown>
interface Content {
  schema?: { $ref?: string; contentSchema?: Json } & Json
}
interface Documented {
  $ref?: string
  headers?: Record<string, { $ref?: string; required?: boolean }>
  content?: Record<string, Content>
}
export interface ApiDocument {
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, Documented> }>>
  components: Record<'responses' | 'headers' | 'schemas', Record<string, Documented & { required?: boolean }>>
}

/** The paths of providers, groups and prices that administrators change, and of the server, which the package `turnpike` adds to a gateway. */
export const overlayPath = /^\/admin\/(providers|groups|prices|server)(\/|$)/

/** What is asked, and the head of what is answered. */
export interface Answered {
  method: string
  path: string
  status: number
  header(name: string): string | null | undefined
}

/** Told of the body, or of the part of it that was read; returns what is wrong with it. */
export type BodyCheck = (text: string, whole: boolean) => string[]

/** A schema whose objects have no more fields than it names, unless it says so. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  const { properties, additionalProperties } = schema as Json
  if (properties !== undefined && additionalProperties === undefined) copy['additionalProperties'] = false
  return copy
}

/** The paths of the document, longest first; only the last segment of one may hold slashes. */
const patternsOf = (document: ApiDocument) =>
  Object.keys(document.paths)
    .toSorted((a, b) => b.length - a.length)
    .map((path) => {
      const pattern = path
        .replace(/[.]/g, '\\.')
        .replace(/\{\w+\}$/, '.+')
        .replace(/\{\w+\}/g, '[^/]+')
      return { path, pattern: new RegExp(`^${pattern}$`) }
    })

/** What holds answers against a document. */
export function contractOf(document: ApiDocument) {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema({ $id: 'api', ...(closed(document) as ApiDocument) })
  const compiled = new Map<string, ValidateFunction>()
  const patterns = patternsOf(document)

  /** What is wrong with a value. @param schema a reference, or a schema that has references */
  const misfits = (schema: object, value: unknown): string[] => {
    const text = JSON.stringify(closed(schema)).replaceAll('"#/', '"api#/')
    let validate = compiled.get(text)
    if (!validate) compiled.set(text, (validate = ajv.compile(JSON.parse(text) as object)))
    if (validate(value)) return []
    return validate.errors!.map(({ instancePath, message, params }) => {
      return `${instancePath || 'the body'} ${message} ${JSON.stringify(params)}`
    })
  }
  const error = { $ref: '#/components/schemas/Error' }

  const eventMisfits = (schema: object, text: string): string[] =>
    text
      .split('\n\n')
      .slice(0, -1)
      // No `.` of a pattern: it stops at U+2028, which JSON may have as it is.
      .flatMap((block) => block.split('\n').filter((line) => line.startsWith('data: ')))
      .map((line) => line.slice('data: '.length))
      .filter((data) => data !== '[DONE]')
      .flatMap((data) => {
        const value = JSON.parse(data) as Json
        return misfits('error' in value ? error : schema, value)
      })

  const bodyCheck =
    (type: string, { schema }: Content): BodyCheck =>
    (text, whole) => {
      if (type === 'text/event-stream') return eventMisfits(schema!.contentSchema!, text)
      return type === 'application/json' && schema && whole ? misfits(schema, JSON.parse(text)) : []
    }

  /** What the document says of an answer; undefined where it has no such path or method, or where a server may not have it. */
  const documented = (method: string, path: string, status: number): Documented | undefined => {
    const found = patterns.find(({ pattern }) => pattern.test(path))?.path
    const operation = found && document.paths[found]![method === 'HEAD' ? 'get' : method.toLowerCase()]
    if (!operation) return undefined
    const response = operation.responses[status]
    if (!response && [404, 405].includes(status) && overlayPath.test(path)) return undefined
    if (!response) throw new Error(`${operation.operationId} documents no status ${status}`)
    return response.$ref ? document.components.responses[response.$ref.split('/').pop()!]! : response
  }

  /** Where there is no such path or method. */
  const absent: Documented = { content: { 'application/json': { schema: error } } }

  /** Checks the head of an answer. @throws where it is not as documented */
  const head = ({ method, path, status, header }: Answered): BodyCheck => {
    // Nobody is there who would read it.
    if (status === CLIENT_LEFT) return () => []
    // Browsers have the console there.
    const isPage = path === '/' && header('content-type')?.startsWith('text/html')
    const response = documented(method, isPage ? '/console' : path, status) ?? absent
    if (response === absent && ![404, 405].includes(status) && !(method === 'OPTIONS' && status === 204))
      throw new Error(`No such path and method are documented, and yet there is an answer ${status}`)
    if (!uuidv7Pattern.test(header('x-request-id') ?? '')) throw new Error('There is no X-Request-ID')
    for (const [name, { $ref, required }] of Object.entries(response.headers ?? {}))
      if ((required ?? document.components.headers[$ref?.split('/').pop() ?? '']?.required) && !header(name))
        throw new Error(`${status} needs ${name}`)
    if (method === 'OPTIONS') return () => []
    const type = header('content-type')?.split(';', 1)[0]
    const content = type && (response.content?.[type] ?? response.content?.['*/*'])
    if (type && !content) throw new Error(`${status} is not documented as ${type}`)
    if (!type && response.content && method !== 'HEAD') throw new Error(`${status} has no content type`)
    return content && method !== 'HEAD' ? bodyCheck(type, content) : () => []
  }

  /** What is wrong with the head of an answer, and what tells what is wrong with its body. */
  return (answered: Answered): { wrong: string[]; body: BodyCheck } => {
    const named = (what: string): string => `${answered.method} ${answered.path}: ${what}`
    try {
      const check = head(answered)
      return { wrong: [], body: (text, whole) => check(text, whole).map(named) }
    } catch (wrong) {
      return { wrong: [named((wrong as Error).message)], body: () => [] }
    }
  }
}

export type Contract = ReturnType<typeof contractOf>

const goldens = new Map<URL, Contract>()
/** The gateway for browsers, which has some of the gateway's routes. */
const BROWSERS = /^\/api\/gateway(?=\/v1\/)/

/** The contract of docs/openapi: the platform's for its paths, and the gateway's for all others. */
export const goldenContract = (): Contract => (asked) => {
  const isOfGateway = BROWSERS.test(asked.path) || !isPlatformPath(asked.path)
  const file = isOfGateway ? documentFile : platformDocumentFile
  const answered = asked.status === 404 ? asked : { ...asked, path: asked.path.replace(BROWSERS, '') }
  let contract = goldens.get(file)
  if (!contract) goldens.set(file, (contract = contractOf(JSON.parse(readFileSync(file, 'utf8')) as ApiDocument)))
  return contract(answered)
}

const ofRoutes = new Map<string, Contract>()
/** The contract of a gateway whose routes may be others than those of the reference server. */
export function contractOfRoutes(routes: Gateway['routes']): Contract {
  const key = routes.map(({ method, path }) => `${method} ${path}`).join()
  let contract = ofRoutes.get(key)
  if (!contract) {
    // As it is sent.
    const document = JSON.parse(JSON.stringify(gatewayDocument(routes))) as ApiDocument
    ofRoutes.set(key, (contract = contractOf(document)))
  }
  return contract
}

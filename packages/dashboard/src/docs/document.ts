/** An OpenAPI 3.1 document, such as those of `@turnpike/gateway/openapi` and `@turnpike/platform/openapi`. */
export interface ApiDocument {
  info: { title: string; version: string; description?: string }
  /** The first is where requests go; default the folder of the page. */
  servers?: readonly { url: string }[] | undefined
  paths: Record<string, Record<string, object>>
  components: Record<string, Record<string, object>>
}

/** Documents by a short name, such as `gateway`. */
export type ApiDocuments = Record<string, ApiDocument>

/** A JSON Schema, as far as it is shown. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  description?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
  contentMediaType?: string
  /** Of the data of each event, where the schema is that of a stream. */
  contentSchema?: Schema
  'x-convention'?: boolean
}

/** A parameter, or a header of an answer. */
export interface Parameter {
  $ref?: string
  name: string
  in: string
  required?: boolean
  description?: string
  schema?: Schema
  'x-convention'?: boolean
}

/** What a body is, by its media type. */
export type Content = Record<string, { schema?: Schema; example?: unknown }>

export interface Answer {
  $ref?: string
  description?: string
  headers?: Record<string, Parameter>
  content?: Content
  'x-convention'?: boolean
}

interface Described {
  operationId: string
  summary?: string
  description?: string
  tags?: string[]
  security?: Record<string, unknown>[]
  parameters?: Parameter[]
  requestBody?: { content: Content }
  responses: Record<string, Answer>
  'x-convention'?: boolean
}

/** A way to prove who calls, as the document describes it. */
export interface SecurityScheme {
  type: string
  scheme?: string
  name?: string
  description?: string
}

/** An operation with what the page needs to know of its document. */
export interface Operation extends Omit<Described, 'responses'> {
  api: Api
  /** Its place on the page: its id, after the name of the document where several have it. */
  anchor: string
  /** In upper case. */
  method: string
  path: string
  parameters: Parameter[]
  answers: [status: string, answer: Answer][]
}

/** A document with its references followed, except those to schemas. */
export interface Api {
  /** Its short name. */
  name: string
  title: string
  description: string
  /** Where requests go, relative to the page. */
  server: string
  operations: Operation[]
  schemas: Record<string, Schema>
  security: Record<string, SecurityScheme>
  /** Where the document itself is served; undefined where nothing describes it. */
  source: string | undefined
}

/** The part of a document that a reference such as `#/components/headers/X` leads to. */
const follow = <T extends object>({ components }: ApiDocument, part: T): T => {
  const [, , kind = '', key = ''] = ('$ref' in part && typeof part.$ref === 'string' ? part.$ref : '').split('/')
  return (components[kind]?.[key] as T | undefined) ?? part
}

function readDocument(name: string, document: ApiDocument): Api {
  const { info, servers, paths, components } = document
  const api: Api = {
    name,
    title: info.title,
    description: info.description ?? '',
    server: servers?.[0]?.url ?? '.',
    operations: [],
    schemas: (components['schemas'] ?? {}) as Record<string, Schema>,
    security: (components['securitySchemes'] ?? {}) as Record<string, SecurityScheme>,
    source: Object.keys(paths).find((path) => path.endsWith('/openapi.json')),
  }
  const headersOf = ({ headers = {} }: Answer): Record<string, Parameter> =>
    Object.fromEntries(Object.entries(headers).map(([key, header]) => [key, follow(document, header)]))
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) {
      const described = operation as Described
      api.operations.push({
        ...described,
        api,
        anchor: described.operationId,
        method: method.toUpperCase(),
        path,
        parameters: (described.parameters ?? []).map((one) => follow(document, one)),
        answers: Object.entries(described.responses).map(([status, one]) => {
          const answer = follow(document, one)
          return [status, { ...answer, headers: headersOf(answer) }]
        }),
      })
    }
  return api
}

/** Reads documents. */
export function readDocuments(documents: ApiDocuments): Api[] {
  const apis = Object.entries(documents).map(([name, document]) => readDocument(name, document))
  const all = apis.flatMap(({ operations }) => operations)
  for (const one of all)
    if (all.some(({ api, operationId }) => operationId === one.operationId && api !== one.api))
      one.anchor = `${one.api.name}.${one.operationId}`
  return apis
}

/** The schema that a reference to a schema names; undefined for any other schema. */
export const schemaName = ({ $ref }: Schema): string | undefined => $ref?.split('/').at(-1)

/** A schema with its reference followed, once. */
export const resolve = ({ schemas }: Api, schema: Schema): Schema => schemas[schemaName(schema) ?? ''] ?? schema

/** The operations of a document by their first tag, in the order of the document. */
export function byTag({ operations }: Api): [tag: string, operations: Operation[]][] {
  const groups = new Map<string, Operation[]>()
  for (const operation of operations) {
    const tag = operation.tags?.[0] ?? ''
    groups.set(tag, [...(groups.get(tag) ?? []), operation])
  }
  return [...groups]
}

/** Whether it changes something on the server. */
export const changes = ({ method }: Operation): boolean => method !== 'GET' && method !== 'HEAD'

/** Whether it calls a provider, which is billed: these are the operations that can answer 502. */
export const isBilled = ({ answers }: Operation): boolean => answers.some(([status]) => status === '502')

/** The media types of the answer of success. */
export const answerTypes = ({ answers }: Operation): string[] =>
  Object.keys(answers.find(([status]) => status.startsWith('2'))?.[1].content ?? {})

export const isStream = (mediaType: string): boolean => mediaType === 'text/event-stream'

/** `gatewayKey` as `GATEWAY_KEY`: the name of a variable of the environment. */
export const upper = (name: string): string =>
  name
    .replaceAll(/\W/g, '_')
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_')
    .toUpperCase()

/** The variable of the environment with the bearer token; undefined where none is needed. */
export function tokenOf({ security = [], api }: Operation): string | undefined {
  const name = security.flatMap((one) => Object.keys(one)).find((one) => api.security[one]?.scheme === 'bearer')
  return name === undefined ? undefined : upper(name)
}

/** The names of the required parameters in a place. */
export const requiredOf = ({ parameters }: Operation, place: 'path' | 'query'): string[] =>
  parameters.filter((one) => one.in === place && one.required).map(({ name }) => name)

/** The path with the required query. @param write.text escapes what stands there; `write.value` writes the value of a parameter */
export function fillPath(
  operation: Operation,
  write: { text: (text: string) => string; value: (name: string) => string },
): string {
  const parts = operation.path.split(/\{([^}]*)\}/)
  const path = parts.map((part, i) => (i % 2 === 1 ? write.value(part) : write.text(part))).join('')
  const query = requiredOf(operation, 'query').map(
    (name) => `${write.text(encodeURIComponent(name))}=${write.value(name)}`,
  )
  return path + (query.length > 0 ? `?${query.join('&')}` : '')
}

/** Generates OpenAPI 3.1 documents from route tables. @module */
import type { Component } from './openapi/openapi-schemas.js'
import { namedSchemas, OURS, parameterSchemas, schemaConverter } from './openapi/openapi-schemas.js'
import type { Operation, Route } from './operation.js'

export { commonStatuses, ours, shown } from './openapi/openapi-components.js'
export type { Component } from './openapi/openapi-schemas.js'
export { openapiRoute } from './openapi/openapi-route.js'

/** Options of {@link openapi}. `Access` is the union of the API's access levels. */
export interface OpenApiOptions<Access extends string = string> {
  info: { title: string; version: string; description: string }
  routes: readonly Route<unknown, Access>[]
  /** Named schemas; routes refer to them by `$ref`. */
  components: Record<string, Component>
  /** The name of the component for error bodies. */
  error: string
  /** Descriptions of statuses, by status. */
  statuses: Record<number, string>
  /** Per access level: who has it, the alternative security schemes, and the error statuses of authentication and authorization. */
  access: Record<Access, { who: string; security: readonly string[]; errors: readonly number[] }>
  securitySchemes: Record<string, object>
  /** Descriptions of request and response headers, by name. */
  headers: Record<string, string>
  /** Parameters (path, query, header) and error statuses that the specification defines; all others are marked `x-convention`. */
  shown: { parameters: readonly string[]; statuses: readonly number[] }
  /** Base URLs of the API; default the root of the document's URL. */
  servers?: readonly { url: string; description?: string }[] | undefined
}

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  openapi: '3.1.0'
  info: OpenApiOptions['info']
  servers?: OpenApiOptions['servers']
  paths: Record<string, Record<string, object>>
  components: Record<'schemas' | 'responses' | 'headers' | 'securitySchemes', Record<string, object>>
}

/** What may go wrong besides the check of access: while input is read, in the operation itself, and while stored bytes are sent. */
const errorsOf = ({ body, query, stored, errors = [] }: Operation<unknown>): number[] => [
  ...(body || query ? [400] : []),
  ...(body ? [408, 413, 503] : []),
  ...errors,
  ...(stored ? [412, 416] : []),
  500,
]

/**
 * The OpenAPI 3.1 document of a route table.
 * @example const document = openapi({ ...options, info: { title: 'Mine', version: '1', description: '' }, routes })
 */
export function openapi<Access extends string>(options: OpenApiOptions<Access>): OpenApiDocument {
  const { info, servers, routes, components, error, statuses, access, headers, shown } = options
  const toSchema = schemaConverter(components)
  const ours = (is: boolean): object => (is ? OURS : {})
  const string = { type: 'string' }
  const requestId = { 'X-Request-ID': { $ref: '#/components/headers/X-Request-ID' } }

  const parametersOf = (operation: Operation<unknown>, path: string): object[] => {
    const { params, query, version, headers: own = [] } = operation
    const names = version ? [...own, 'If-None-Match'] : own
    const parameter = (name: string, place: string, rest: object): object => ({
      name,
      in: place,
      ...ours(!shown.parameters.includes(name)),
      ...rest,
    })
    const known = new Map(parameterSchemas(params).map(([name, schema]) => [name, schema]))
    return [
      ...[...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) =>
        parameter(name!, 'path', { required: true, schema: known.get(name!) ?? string }),
      ),
      ...parameterSchemas(query).map(([name, schema, required]) => parameter(name, 'query', { required, schema })),
      ...names.map((name) => parameter(name, 'header', { description: headers[name], schema: string })),
    ]
  }

  const contentOf = ({ output, events, contentTypes = [] }: Operation<unknown>): Record<string, object> => ({
    ...(output && { 'application/json': { schema: toSchema(output) } }),
    ...(events && {
      'text/event-stream': {
        schema: {
          ...string,
          description:
            'Server-sent events. contentSchema describes the data of each event; the last one may be an error.',
          contentMediaType: 'text/event-stream',
          contentSchema: toSchema(events),
        },
      },
    }),
    ...Object.fromEntries(contentTypes.map((type) => [type, type.startsWith('text/') ? { schema: string } : {}])),
  })

  const used = new Set<number>()
  const responsesOf = ({ operation, status }: Route<unknown, Access>): Record<string, object> => {
    const content = contentOf(operation)
    const { answerHeaders: own = [], statuses: others = [], version } = operation
    const answerHeaders = version ? [...own, 'ETag'] : own
    const answer = {
      headers: {
        ...requestId,
        ...Object.fromEntries(
          answerHeaders.map((name) => [name, { description: headers[name], ...OURS, schema: string }]),
        ),
      },
      ...(Object.keys(content).length > 0 && { content }),
    }
    const responses: Record<string, object> = { [status]: { description: 'The answer.', ...answer } }
    if (operation.stored) {
      const part = Object.fromEntries(Object.keys(content).map((type) => [type, {}]))
      responses[206] = { description: 'The requested range.', headers: requestId, content: part }
    }
    if (operation.stored || version) responses[304] = { description: 'Not modified.', headers: requestId }
    for (const code of others) responses[code] = { description: statuses[code], ...answer }
    for (const code of [...errorsOf(operation), ...access[operation.access].errors]) {
      if (responses[code]) continue
      used.add(code)
      responses[code] = { $ref: `#/components/responses/Error${code}` }
    }
    return responses
  }

  const operationOf = (route: Route<unknown, Access>): object => {
    const { operation, convention = false, path } = route
    const { id, summary, body, form, example } = operation
    const { who, security } = access[operation.access]
    const parameters = parametersOf(operation, path)
    return {
      operationId: id,
      summary,
      description: who,
      tags: [id.split('.')[0]],
      ...ours(convention),
      security: security.map((name) => ({ [name]: [] })),
      ...(parameters.length > 0 && { parameters }),
      ...(body && {
        requestBody: {
          required: true,
          content: {
            [form ? 'multipart/form-data' : 'application/json']: {
              schema: toSchema(body),
              ...(example && { example }),
            },
          },
        },
      }),
      responses: responsesOf(route),
    }
  }

  const paths: OpenApiDocument['paths'] = {}
  for (const route of routes) {
    if (route.listed === false) continue
    const path = route.path.replace('+}', '}')
    ;(paths[path] ??= {})[route.method.toLowerCase()] = operationOf(route)
  }

  const retryAfter = { description: 'Seconds to wait before retrying.', schema: { type: 'integer' } }
  const errorResponse = (code: number): object => ({
    description: statuses[code],
    ...ours(!shown.statuses.includes(code)),
    headers: {
      ...requestId,
      ...(code === 429 && { 'Retry-After': { ...retryAfter, required: true } }),
      ...(code === 503 && { 'Retry-After': retryAfter }),
    },
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${error}` } } },
  })
  return {
    openapi: '3.1.0',
    info,
    ...(servers && { servers }),
    paths,
    components: {
      schemas: namedSchemas(components),
      responses: Object.fromEntries([...used].map((code) => [`Error${code}`, errorResponse(code)])),
      headers: {
        'X-Request-ID': {
          description: 'The id of the request; quote it in error reports.',
          required: true,
          schema: string,
        },
      },
      securitySchemes: options.securitySchemes,
    },
  }
}

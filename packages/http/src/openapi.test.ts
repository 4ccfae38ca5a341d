import * as core from '@turnpike/core'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import type { OpenApiOptions } from './openapi.js'
import { openapi } from './openapi.js'
import type { DefineOperation } from './operation.js'
import { operation as define, route } from './operation.js'

type Access = 'open' | 'user'
const operation: DefineOperation<null, Access> = define
const run = (): null => null

const Pet = v.object({ id: v.string(), name: v.string(), friends: v.array(v.looseObject({ name: v.string() })) })
const Problem = v.object({ error: v.string() })

const base: OpenApiOptions<Access> = {
  info: { title: 'Pets', version: '1.0.0', description: 'A second surface.' },
  routes: [],
  components: { Pet: { schema: Pet, shown: ['id', 'name'] }, Error: { schema: Problem, shown: ['error'] } },
  error: 'Error',
  statuses: {
    400: 'Bad.',
    401: 'Who?',
    408: 'Slow.',
    413: 'Large.',
    422: 'Odd.',
    429: 'Often.',
    500: 'Sorry.',
    503: 'Full.',
  },
  access: {
    open: { who: 'For anybody.', security: [], errors: [] },
    user: { who: 'For users.', security: ['token'], errors: [401, 429] },
  },
  securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
  headers: { 'X-Trace': 'Whose it is.' },
  shown: { parameters: ['id'], statuses: [400, 401, 429, 500] },
}

/** What a document says of one route. */
function described(at: ReturnType<typeof route<null, Access>>): unknown {
  const { paths } = openapi({ ...base, routes: [at] })
  return Object.values(paths)[0]![at.method.toLowerCase()]
}

const ref = (kind: string, name: string | number) => ({ $ref: `#/components/${kind}/${name}` })
const errors = (...statuses: number[]) =>
  Object.fromEntries(statuses.map((status) => [status, ref('responses', `Error${status}`)]))
const requestId = { 'X-Request-ID': ref('headers', 'X-Request-ID') }
const whole = v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number), v.number(), v.integer(), v.maxValue(9))

describe('the document of a route table', () => {
  it('describes an operation by its schemas, its access and its route', () => {
    const update = operation({
      id: 'pets.update',
      summary: 'Changes a pet.',
      access: 'user',
      params: v.object({ id: v.string() }),
      query: v.object({ limit: v.optional(whole) }),
      body: Pet,
      output: Pet,
      errors: [422],
      headers: ['X-Trace'],
      answerHeaders: ['X-Trace'],
      run,
    })
    const json = { 'application/json': { schema: ref('schemas', 'Pet') } }
    expect(described(route('PATCH', '/pets/{id+}', update, { status: 201 }))).toEqual({
      operationId: 'pets.update',
      summary: 'Changes a pet.',
      description: 'For users.',
      tags: ['pets'],
      security: [{ token: [] }],
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
        {
          name: 'limit',
          in: 'query',
          required: false,
          'x-convention': true,
          schema: { type: 'integer', maximum: 9 },
        },
        {
          name: 'X-Trace',
          in: 'header',
          description: 'Whose it is.',
          'x-convention': true,
          schema: { type: 'string' },
        },
      ],
      requestBody: { required: true, content: json },
      responses: {
        201: {
          description: 'The answer.',
          headers: {
            ...requestId,
            'X-Trace': { description: 'Whose it is.', 'x-convention': true, schema: { type: 'string' } },
          },
          content: json,
        },
        ...errors(400, 401, 408, 413, 422, 429, 500, 503),
      },
    })
    const routes = [route('GET', '/pets/{id+}', update), route('GET', '/part', update, { listed: false })]
    expect(Object.keys(openapi({ ...base, routes }).paths)).toEqual(['/pets/{id}'])
  })

  it('describes forms, streams, bytes and other statuses', () => {
    const FileField = v.pipe(
      v.custom(() => true),
      v.metadata({ type: 'string' }),
    )
    const odd = operation({
      id: 'odd',
      summary: 'Does it all.',
      access: 'open',
      form: { file: 'file', limit: 1 },
      body: v.object({ file: FileField }),
      output: Problem,
      stored: true,
      statuses: [429],
      events: Pet,
      contentTypes: ['text/plain', 'image/png'],
      run,
    })
    const content = {
      'application/json': { schema: ref('schemas', 'Error') },
      'text/event-stream': {
        schema: expect.objectContaining({ type: 'string', contentSchema: ref('schemas', 'Pet') }) as object,
      },
      'text/plain': { schema: { type: 'string' } },
      'image/png': {},
    }
    expect(described(route('POST', '/odd', odd, { convention: true }))).toMatchObject({
      'x-convention': true,
      security: [],
      requestBody: {
        content: {
          'multipart/form-data': { schema: { properties: { file: { type: 'string' } }, 'x-convention': true } },
        },
      },
      responses: {
        200: { content },
        206: { headers: requestId, content: { 'image/png': {} } },
        304: { headers: requestId },
        429: { description: 'Often.', content },
        ...errors(400, 408, 413, 416, 500, 503),
      },
    })
    const remove = operation({ id: 'odd.delete', summary: 'Removes it.', access: 'open', run })
    expect(described(route('DELETE', '/odd', remove, { status: 204 }))).toMatchObject({
      responses: { 204: { description: 'The answer.', headers: requestId }, ...errors(500) },
    })
  })

  it('has named schemas, errors and headers once, and marks what is not shown', () => {
    const get = operation({ id: 'pets', summary: 'Lists.', access: 'user', query: v.object({}), errors: [422], run })
    const { components, servers } = openapi({
      ...base,
      routes: [route('GET', '/pets', get)],
      components: { ...base.components, Own: { schema: v.object({}) } },
      servers: [{ url: '/ai' }],
    })
    expect(servers).toEqual([{ url: '/ai' }])
    expect(components.schemas['Pet']).toEqual({
      type: 'object',
      properties: {
        id: { type: 'string' },
        name: { type: 'string' },
        friends: {
          type: 'array',
          items: {
            type: 'object',
            properties: { name: { type: 'string' } },
            required: ['name'],
            additionalProperties: true,
          },
          'x-convention': true,
        },
      },
      required: ['id', 'name', 'friends'],
    })
    expect(components.schemas['Own']).toMatchObject({ 'x-convention': true })
    const body = { content: { 'application/json': { schema: ref('schemas', 'Error') } } }
    expect(components.responses).toEqual({
      Error400: { description: 'Bad.', headers: requestId, ...body },
      Error401: { description: 'Who?', headers: requestId, ...body },
      Error422: { description: 'Odd.', 'x-convention': true, headers: requestId, ...body },
      Error429: {
        description: 'Often.',
        headers: { ...requestId, 'Retry-After': expect.objectContaining({ required: true }) as object },
        ...body,
      },
      Error500: { description: 'Sorry.', headers: requestId, ...body },
    })
  })

  it('refuses a schema that JSON Schema has no words for, or that lacks what is shown', () => {
    const withSchema = (schema: v.GenericSchema, shown?: string[]) => () =>
      openapi({ ...base, components: { ...base.components, Time: { schema, ...(shown && { shown }) } } })
    expect(withSchema(v.object({ at: v.date() }))).toThrow('"date" schema cannot be converted')
    expect(withSchema(v.object({ at: v.string() }), ['at', 'zone'])).toThrow('The schema Time has no field zone')
  })
})

const wire = Object.entries<unknown>(core).filter(
  (entry): entry is [string, v.GenericSchema] => (entry[1] as { kind?: string } | null)?.kind === 'schema',
)

it('converts every wire schema', () => {
  expect(wire.map(([name]) => name)).toEqual(
    expect.arrayContaining(['ChatCompletionRequest', 'UserUsage', 'PlatformErrorBody']),
  )
  for (const [name, schema] of wire) {
    const { components } = openapi({ ...base, components: { [name]: { schema } } })
    expect(components.schemas[name], name).toMatchObject({ 'x-convention': true })
    // What is not described would take anything.
    expect(JSON.stringify(components.schemas[name]), name).not.toContain('{}')
  }
})

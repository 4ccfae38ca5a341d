import { describe, expect, it } from 'vitest'
import { testGateway } from '../../../test/support/gateway.js'
import { conventionRoutes } from './admin-routes.js'
import { gatewayDocument, openapi } from './openapi.js'
import { prometheus } from './prometheus.js'
import { requestEvents } from './records/request-events.js'

/** The endpoints of the contract, which are no conventions. */
const shown = [
  'POST /v1/chat/completions',
  'POST /v1/embeddings',
  'POST /v1/images/generations',
  'POST /v1/audio/speech',
  'POST /v1/audio/transcriptions',
  'GET /v1/models',
  'GET /v1/models/{model}',
  'GET /v1/users',
  'POST /v1/users',
  'GET /v1/users/{id}',
  'DELETE /v1/users/{id}',
  'GET /v1/users/{id}/usage',
  'GET /health',
  'GET /health/providers',
  'GET /admin/metrics',
  'GET /admin/providers',
  'GET /admin/pricing',
  'GET /admin/users/summary',
  'GET /admin/balancer',
  'GET /',
]

interface Schema {
  $ref?: string
  properties?: Record<string, { 'x-convention'?: true }>
  'x-convention'?: true
}

/** The options of a gateway with all routes. */
const full = () => ({ events: requestEvents(), routes: [conventionRoutes, prometheus(), openapi()] })

/** The document of a gateway, as operations by `METHOD path`, and its schemas. */
async function describedBy(options: Parameters<typeof testGateway>[0]) {
  const { gateway } = await testGateway(options)
  const { paths, components } = gatewayDocument(gateway.routes)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
  )
  return { operations: new Map(operations), schemas: components.schemas as Record<string, Schema> }
}

describe('GET /v1/openapi.json', () => {
  it('describes all routes of the gateway, without a key, and is made once', async () => {
    const { gateway, send } = await testGateway(full())
    const ask = () => send('GET', '/v1/openapi.json', undefined, { headers: { authorization: '' } })
    const [first, second] = [await ask(), await ask()]
    expect([first.status, first.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    const text = await first.text()
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(gatewayDocument(gateway.routes))))
    expect(await second.text()).toBe(text)
    const headers = { 'if-none-match': first.headers.get('etag')! }
    expect((await send('GET', '/v1/openapi.json', undefined, { headers })).status).toBe(304)
    const part = await send('GET', '/v1/openapi.json', undefined, { headers: { range: 'bytes=1-9' } })
    expect([part.status, await part.text()]).toEqual([206, text.slice(1, 10)])
  })

  it('stands where the host wants it, and says where the gateway is served', async () => {
    const { send } = await testGateway({ routes: [openapi({ path: '/spec', servers: [{ url: '/ai' }] })] })
    expect((await send('GET', '/v1/openapi.json')).status).toBe(404)
    expect(await (await send('GET', '/spec')).json()).toMatchObject({
      servers: [{ url: '/ai' }],
      paths: { '/spec': { get: { 'x-convention': true } } },
    })
  })
})

describe('the document of a gateway', () => {
  it('marks as conventions all routes but those of the specification', async () => {
    expect([...(await describedBy({ routes: [] })).operations.keys()].toSorted()).toEqual(shown.toSorted())
    const { operations } = await describedBy(full())
    const unmarked = [...operations].filter(([, operation]) => !('x-convention' in operation)).map(([name]) => name)
    expect(unmarked.toSorted()).toEqual(shown.toSorted())
    expect([...operations.keys()].filter((name) => !shown.includes(name))).toEqual([
      'POST /admin/providers/{id}/probe',
      'POST /admin/balancer/simulate',
      'GET /admin/usage',
      'GET /admin/usage/hours',
      'GET /admin/keys',
      'DELETE /admin/keys/{id}',
      'GET /admin/audit',
      'GET /admin/failed-requests',
      'GET /admin/failed-requests/{id}',
      'GET /admin/events',
      'GET /metrics',
      'GET /v1/openapi.json',
    ])
  })

  it('marks fields as conventions that the specification does not show', async () => {
    const { schemas } = await describedBy(full())
    const own = (name: string): string[] =>
      Object.entries(schemas[name]!.properties!).flatMap(([field, part]) => (part['x-convention'] ? field : []))
    expect(own('ChatCompletionRequest')).toEqual([
      'functions',
      'function_call',
      'max_completion_tokens',
      'seed',
      'top_k',
      'top_logprobs',
      'frequency_penalty',
      'presence_penalty',
      'service_tier',
    ])
    expect(own('ModelInfo')).toEqual([
      'created',
      'owned_by',
      'fidelity',
      'price',
      'context_window',
      'max_output_tokens',
      'members',
    ])
    expect(own('UserUsageSummary')).toEqual(['next'])
    expect(own('Error')).toEqual([])
    // Its fields are a convention.
    for (const name of [
      'ContentPartAudio',
      'ContentPartVideo',
      'ContentPartDocument',
      'ProviderHealth',
      'HealthResponse',
      'ProviderMetrics',
      'MetricsResponse',
    ])
      expect(schemas[name], name).toMatchObject({ 'x-convention': true })
  })

  it('has no schema that nothing refers to, and a description of each header', async () => {
    const { gateway } = await testGateway(full())
    const document = gatewayDocument(gateway.routes)
    const text = JSON.stringify(document)
    const unused = Object.keys(document.components.schemas).filter(
      (name) => !text.includes(`"#/components/schemas/${name}"`),
    )
    expect(unused).toEqual([])
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
    const described = operations.flatMap(
      ({ parameters = [] }: { parameters?: { description?: string; in: string }[] }) =>
        parameters.filter((parameter) => parameter.in === 'header'),
    )
    expect(described.filter(({ description }) => description === undefined)).toEqual([])
  })
})

import type { HrTime } from '@opentelemetry/api'
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { HistogramMetricData } from '@opentelemetry/sdk-metrics'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { familiesGateway, generated } from '../../../test/support/families.js'
import type { TestOptions } from '../../../test/support/gateway.js'
import { answer, chunk, streamed, testGateway } from '../../../test/support/gateway.js'
import { opentelemetry } from './opentelemetry.js'

/** The SDK, keeping what it is told. */
function sdk() {
  const spans = new InMemorySpanExporter()
  const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const meters = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] })
  return {
    onRequest: opentelemetry({ tracer: tracers.getTracer('test'), meter: meters.getMeter('test') }),
    tracer: tracers.getTracer('host'),
    spans: () => spans.getFinishedSpans(),
    /** By metric, the sum and the count of each set of attributes. */
    async metrics() {
      await meters.forceFlush()
      const [{ scopeMetrics } = { scopeMetrics: [] }] = exporter.getMetrics()
      const all = scopeMetrics.flatMap(({ metrics }) => metrics as HistogramMetricData[])
      await meters.shutdown()
      return Object.fromEntries(
        all.map(({ descriptor: { name, unit }, dataPoints }) => [
          `${name} in ${unit}`,
          dataPoints.map(({ attributes, value: { sum, count, buckets } }) => ({
            attributes,
            sum,
            count,
            boundaries: buckets.boundaries,
          })),
        ]),
      )
    },
  }
}

async function setUp(options: TestOptions = {}) {
  const told = sdk()
  return { ...told, ...(await testGateway({ onRequest: told.onRequest, ...options })) }
}

const seconds = ([whole, nano]: HrTime): number => whole + nano / 1e9
const remote = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

afterEach(() => vi.restoreAllMocks())

describe('a span', () => {
  it('describes a request with the names of the semantic conventions', async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
    const { chat, spans, keyId } = await setUp({
      upstream: () => streamed(chunk('Hi', 'stop'), { ...chunk(''), choices: [], usage }, '[DONE]'),
    })
    const response = await chat({ stream: true, messages: [{ role: 'user', content: 'SECRET' }] })
    expect(spans()).toEqual([])
    await response.text()
    const [span] = spans()
    expect([span!.name, span!.kind, span!.status]).toEqual([
      'POST /v1/chat/completions',
      SpanKind.SERVER,
      { code: SpanStatusCode.UNSET },
    ])
    expect(span!.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/chat/completions',
      'http.response.status_code': 200,
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.usage.input_tokens': 9,
      'gen_ai.usage.output_tokens': 3,
      'turnpike.request_id': response.headers.get('x-request-id'),
      'turnpike.key_id': keyId,
      'turnpike.user_id': '01900000-0000-7000-8000-000000000001',
      'turnpike.outcome': 'complete',
      'turnpike.attempts': 1,
      'turnpike.cost_usd': 0.0000525,
    })
    expect(span!.parentSpanContext).toBeUndefined()
  })

  it('is as long as its request', async () => {
    const { onRequest, spans } = sdk()
    vi.spyOn(Date, 'now').mockReturnValue(1_800_000_000_500)
    onRequest({ request_id: 'r', method: 'GET', route: '/', status: 200, duration_ms: 1_500, ip: '' })
    expect([seconds(spans()[0]!.startTime), seconds(spans()[0]!.endTime)]).toEqual([1_799_999_999, 1_800_000_000.5])
  })

  it.each([
    [remote, '0af7651916cd43dd8448eb211c80319c'],
    ['00-00000000000000000000000000000000-b7ad6b7169203331-01', undefined],
    ['nonsense', undefined],
  ])('is a child of the span of the caller: %s', async (traceparent, traceId) => {
    const { send, spans } = await setUp()
    await send('GET', '/v1/models', undefined, { headers: { traceparent } })
    expect(spans()[0]!.parentSpanContext).toEqual(
      traceId && { traceId, spanId: 'b7ad6b7169203331', traceFlags: 1, isRemote: true },
    )
  })

  it('is no child of the span of somebody who is not known', async () => {
    const { send, spans } = await setUp()
    await send('GET', '/v1/models', undefined, { headers: { traceparent: remote, authorization: 'Bearer gw-unknown' } })
    expect(spans()[0]!.parentSpanContext).toBeUndefined()
  })

  it('is a child of the active span of the host', async () => {
    const { send, spans, tracer } = await setUp()
    const host = tracer.startSpan('host')
    vi.spyOn(context, 'active').mockReturnValue(trace.setSpan(context.active(), host))
    await send('GET', '/v1/models', undefined, { headers: { traceparent: remote } })
    expect(spans()[0]!.parentSpanContext).toEqual(host.spanContext())
  })

  it.each<[string, TestOptions['upstream'], object, string | undefined]>([
    ['an upstream that fails', () => answer({ error: {} }, 500), {}, 'upstream_error'],
    ['a stream that breaks', () => streamed(chunk('Hel')), { stream: true }, 'upstream_truncated'],
    ['a caller who is wrong', undefined, { n: 0 }, undefined],
    ['an unknown model', undefined, { model: 'none' }, undefined],
  ])('has the error of %s', async (_, upstream, fields, type) => {
    const { chat, spans } = await setUp(upstream && { upstream })
    await (await chat(fields)).text()
    const [{ status, attributes }] = spans() as [ReturnType<typeof spans>[0]]
    expect([status.code, attributes['error.type']]).toEqual(
      type ? [SpanStatusCode.ERROR, type] : [SpanStatusCode.UNSET, undefined],
    )
  })

  it('has only the method without a route, and never an unknown method', async () => {
    const { send, spans } = await setUp()
    await send('GET', '/secret')
    await send('BREW', '/v1/models')
    expect(
      spans().map(({ name, attributes }) => [name, attributes['http.request.method'], attributes['http.route']]),
    ).toEqual([
      ['GET', 'GET', undefined],
      ['HTTP', '_OTHER', undefined],
    ])
  })

  it('uses the conventional names for other tasks and providers', async () => {
    const { onRequest, spans } = sdk()
    const inlineData = { mimeType: 'image/png', data: 'aGVsbG8=' }
    const toPng = async () => new Uint8Array([1])
    const { send } = await familiesGateway({
      onRequest,
      toPng,
      answers: { google: () => generated({ inlineData }, { promptTokenCount: 4, candidatesTokenCount: 5 }) },
    })
    await send('POST', '/v1/images/generations', { prompt: 'A cat' })
    expect(spans()[0]!.attributes).toMatchObject({
      'gen_ai.operation.name': 'generate_content',
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.output.type': 'image',
    })
  })
})

describe('the metrics', () => {
  it('cover requests to models', async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
    let calls = 0
    const { chat, send, metrics } = await setUp({
      upstream: () =>
        calls++ === 2
          ? answer({ error: {} }, 500)
          : streamed(chunk('Hi', 'stop'), { ...chunk(''), choices: [], usage }, '[DONE]'),
    })
    for (let i = 0; i < 3; i++) await (await chat({ stream: true })).text()
    await chat({ n: 0 })
    await send('GET', '/v1/models')
    const base = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o',
    }
    const some = expect.any(Number) as number
    const tokens = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864]
    const durations = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
    const first = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
    expect(await metrics()).toEqual({
      'gen_ai.client.token.usage in {token}': [
        { attributes: { ...base, 'gen_ai.token.type': 'input' }, sum: 18, count: 2, boundaries: tokens },
        { attributes: { ...base, 'gen_ai.token.type': 'output' }, sum: 6, count: 2, boundaries: tokens },
      ],
      'gen_ai.server.request.duration in s': [
        { attributes: base, sum: some, count: 2, boundaries: durations },
        { attributes: { ...base, 'error.type': 'upstream_error' }, sum: some, count: 1, boundaries: durations },
      ],
      'gen_ai.server.time_to_first_token in s': [{ attributes: base, sum: some, count: 2, boundaries: first }],
    })
  })
})

it('has no effect without an SDK', async () => {
  const { chat } = await testGateway({ onRequest: opentelemetry() })
  expect((await chat()).status).toBe(200)
})

it('threat 185: metrics have no series of models that have answered nothing, and of 200 at most', async () => {
  const { onRequest, metrics } = sdk()
  const tell = (model: string, outcome: 'complete' | 'failed') => {
    const log = { request_id: 'r', method: 'POST', route: '/v1/chat/completions', status: 200, duration_ms: 1, ip: '' }
    onRequest({ ...log, task: 'chat', provider: 'openai', model, outcome })
  }
  tell('gpt-4o', 'complete')
  for (let i = 0; i < 10; i++) tell(`made-up-${i}`, 'failed')
  for (let i = 0; i < 250; i++) tell(`answers-${i}`, 'complete')
  tell('gpt-4o', 'failed')
  const series = (await metrics())['gen_ai.server.request.duration in s']!
  const counts = new Map(series.map(({ attributes, count }) => [attributes['gen_ai.request.model'], count]))
  expect([counts.size, counts.get('gpt-4o'), counts.get('_OTHER')]).toEqual([201, 2, 61])
})

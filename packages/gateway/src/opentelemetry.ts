/** Spans and metrics through @opentelemetry/api, by the semantic conventions of HTTP and of generative AI. @module */
import type { Attributes, Context, Meter, Tracer } from '@opentelemetry/api'
import { context, metrics, SpanKind, SpanStatusCode, trace, ValueType } from '@opentelemetry/api'
import type { RequestLog } from '@turnpike/http'
import type { OnRequest } from './records/on-request.js'
import type { RequestEvent } from './records/request-events.js'

/** Options of {@link opentelemetry}. */
export interface OpenTelemetryOptions {
  /** Creates the spans; default the tracer of the registered SDK. */
  tracer?: Tracer
  /** Creates the metrics; default the meter of the SDK that is registered at the call. */
  meter?: Meter
}

const NAME = '@turnpike/gateway'

/** Other methods are text of the caller and are reported as `_OTHER`, as the conventions say. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE'])

/** The conventions' operation names by task; `transcription` is our own. */
const operations: Record<string, string> = { images: 'generate_content', speech: 'generate_content' }
const outputs: Record<string, string> = { images: 'image', speech: 'speech' }

/** The conventions' names for providers, where they differ from the provider id. */
const providers: Record<string, string> = { google: 'gcp.gemini' }

/** Models that metrics tell apart: an SDK keeps 2,000 series of each, and puts what comes later together. */
const MODELS = 200

const TOKENS = Array.from({ length: 14 }, (_, i) => 4 ** i)
const DURATIONS = Array.from({ length: 14 }, (_, i) => 2 ** i / 100)
const FIRST_TOKENS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/** The parent context of a request's span: the active one, or that of a caller who is known, as it decides what is recorded. */
function parentOf(traceparent: unknown): Context {
  const active = context.active()
  if (trace.getSpan(active) || typeof traceparent !== 'string') return active
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  // SDKs validate the ids.
  return trace.setSpanContext(active, { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true })
}

/** Attributes without those that have no value. */
function known(attributes: Attributes): Attributes {
  const left: Attributes = {}
  for (const name in attributes) if (attributes[name] !== undefined) left[name] = attributes[name]
  return left
}

/**
 * Reports each finished request to OpenTelemetry: a span, and for model requests also tokens and durations. Nearly free without an SDK.
 * @example createGateway({ router, kv, onRequest: opentelemetry() })
 */
export function opentelemetry(options: OpenTelemetryOptions = {}): OnRequest {
  const { tracer = trace.getTracer(NAME), meter = metrics.getMeter(NAME) } = options
  const tokens = meter.createHistogram('gen_ai.client.token.usage', {
    description: 'Number of input and output tokens used.',
    unit: '{token}',
    valueType: ValueType.INT,
    advice: { explicitBucketBoundaries: TOKENS },
  })
  const duration = meter.createHistogram('gen_ai.server.request.duration', {
    description: 'Generative AI server request duration such as time-to-last byte or last output token.',
    unit: 's',
    advice: { explicitBucketBoundaries: DURATIONS },
  })
  const firstToken = meter.createHistogram('gen_ai.server.time_to_first_token', {
    description: 'Time to generate first token for successful responses.',
    unit: 's',
    advice: { explicitBucketBoundaries: FIRST_TOKENS },
  })

  /** Models that have answered. Other names are text of the caller, and are `_OTHER` in metrics, as the conventions say of methods. */
  const models = new Set<string>()

  return (log: RequestLog) => {
    const { method, route, status, duration_ms, request_id } = log
    // The fields have the types with which the gateway logged them.
    const fields = log as unknown as Partial<RequestEvent>
    const { task, provider, model, outcome, error_code, prompt_tokens, completion_tokens, first_token_ms } = fields
    // A stream that failed keeps the status with which it began.
    const failed = status >= 500 || (status < 400 && error_code !== undefined)
    const genAi = known({
      'gen_ai.operation.name': task && (operations[task] ?? task),
      'gen_ai.provider.name': provider && (providers[provider] ?? provider),
      'gen_ai.request.model': model,
      'error.type': failed ? error_code : undefined,
    })

    const end = Date.now()
    const verb = methods.has(method) ? method : '_OTHER'
    const span = tracer.startSpan(
      `${verb === '_OTHER' ? 'HTTP' : verb} ${route}`.trim(),
      {
        kind: SpanKind.SERVER,
        startTime: end - duration_ms,
        attributes: known({
          'http.request.method': verb,
          'http.route': route || undefined,
          'http.response.status_code': status,
          ...genAi,
          'gen_ai.output.type': task && outputs[task],
          'gen_ai.usage.input_tokens': prompt_tokens,
          'gen_ai.usage.output_tokens': completion_tokens,
          'turnpike.request_id': request_id,
          'turnpike.key_id': fields.key_id,
          'turnpike.user_id': fields.user_id,
          'turnpike.outcome': outcome,
          'turnpike.attempts': fields.attempts,
          'turnpike.cost_usd': fields.cost_usd,
        }),
      },
      parentOf(fields.user_id === undefined ? undefined : log['traceparent']),
    )
    if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end(end)

    // Without a provider there was no upstream call.
    if (task === undefined || provider === undefined) return
    if (model !== undefined && outcome === 'complete' && models.size < MODELS) models.add(model)
    const series = model === undefined || models.has(model) ? genAi : { ...genAi, 'gen_ai.request.model': '_OTHER' }
    duration.record(duration_ms / 1000, series)
    if (prompt_tokens !== undefined) tokens.record(prompt_tokens, { 'gen_ai.token.type': 'input', ...series })
    if (completion_tokens !== undefined) tokens.record(completion_tokens, { 'gen_ai.token.type': 'output', ...series })
    if (first_token_ms !== undefined && outcome === 'complete') firstToken.record(first_token_ms / 1000, series)
  }
}

import { toBase64 } from '@turnpike/core/helpers'
import { anthropicRefusal } from './anthropic-rules.js'
import { frame } from './aws-frames.js'
import { expectedSignature, signatureOf } from './aws-signature.js'
import { generated } from './fake-anthropic.js'
import { openaiAnswer } from './fake-openai.js'
import type { FakeAnswer, FakeOptions, FakeRequest, FakeUpstream } from './fake-upstream.js'
import { fakeUpstream } from './fake-upstream.js'
import { paced } from './simulation.js'

/** Options of {@link fakeBedrock}. */
export interface FakeBedrockOptions extends FakeOptions {
  /** The credentials whose signatures are accepted; default none. */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
  /** The region that requests are signed for; default `us-east-1`. */
  region?: string
  /** The host that they are signed for; default that of the request over HTTP, and in process the region's public endpoint. */
  host?: string
  /** The model of each inference profile whose ARN does not name it. */
  profiles?: Readonly<Record<string, string>>
}

const utf8 = new TextEncoder()

/** An error in the vendor's format: its type is in a header. */
const failure = (status: number, type: string, message: string): FakeAnswer => ({
  status,
  headers: {
    'content-type': 'application/json',
    'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
  },
  body: JSON.stringify({ message }),
})

/** A chunk of a stream, with padding that hides its length. */
const chunk = (event: object): Uint8Array =>
  frame(
    { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' },
    { bytes: toBase64(utf8.encode(JSON.stringify(event))), p: 'abcdefg' },
  )

async function* framed(events: Iterable<object>, delayMs: number): AsyncGenerator<Uint8Array> {
  for await (const event of paced(events, delayMs)) yield chunk(event)
}

/** The refusal of a credential; undefined if it is good. */
async function refusedCredential(
  request: FakeRequest,
  { apiKey, credentials, region = 'us-east-1', host }: FakeBedrockOptions,
): Promise<FakeAnswer | undefined> {
  const { headers } = request
  const authorization = headers['authorization'] ?? ''
  const key = /^Bearer (.+)$/.exec(authorization)?.[1]
  if (key !== undefined)
    return apiKey === undefined || key === apiKey
      ? undefined
      : failure(403, 'AccessDeniedException', 'Authentication failed: Please make sure your API Key is valid.')
  const signature = signatureOf(authorization)
  if (!signature) return failure(403, 'MissingAuthenticationTokenException', 'Missing Authentication Token')
  const { accessKeyId, signedHeaders } = signature
  if (
    accessKeyId !== credentials?.accessKeyId ||
    headers['x-amz-security-token'] !== credentials.sessionToken ||
    !['host', 'x-amz-date', ...(credentials.sessionToken ? ['x-amz-security-token'] : [])].every((name) =>
      signedHeaders.split(';').includes(name),
    )
  )
    return failure(403, 'UnrecognizedClientException', 'The security token included in the request is invalid.')
  if (signature.service !== 'bedrock' || signature.region !== region)
    return failure(403, 'InvalidSignatureException', 'Credential should be scoped to a valid region and service.')
  const signed = host ?? headers['host'] ?? `bedrock-runtime.${region}.amazonaws.com`
  const expected = await expectedSignature(request, signed, credentials.secretAccessKey)
  return signature.signature === expected
    ? undefined
    : failure(
        403,
        'InvalidSignatureException',
        'The request signature we calculated does not match the signature you provided.',
      )
}

const invalid = (message: string): FakeAnswer => failure(400, 'ValidationException', message)

/** InvokeModel with a Claude. */
function invoke(id: string, given: unknown, streams: boolean, options: FakeBedrockOptions): FakeAnswer {
  const named = options.profiles?.[id] ?? id
  const [, profile, model] = /^(.*?)(?:anthropic\.)?(claude-[\w-]+?)(?:-v\d+(?::\d+)?)?$/.exec(named) ?? []
  if (!model) return invalid('The provided model identifier is invalid.')
  if (profile === '' && !options.profiles?.[id] && !/claude-3-/.test(model))
    return invalid(
      `Invocation of model ID ${id} with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.`,
    )
  const { anthropic_version: version, anthropic_beta: betas = [], ...body } = (given ?? {}) as Record<string, unknown>
  if (version !== 'bedrock-2023-05-31') return invalid('anthropic_version: Field required')
  const extra = ['model', 'stream', 'metadata', 'service_tier'].find((field) => field in body)
  const refusal = extra
    ? `${extra}: Extra inputs are not permitted`
    : anthropicRefusal({ ...body, model }, betas as string[])
  if (refusal) return invalid(`The model returned the following errors: ${refusal}`)
  const { whole, events } = generated({ ...body, model })
  if (!streams) return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(whole) }
  const headers = {
    'content-type': 'application/vnd.amazon.eventstream',
    'x-amzn-bedrock-content-type': 'application/json',
  }
  return { status: 200, headers, body: framed(events, options.delayMs ?? 0) }
}

/**
 * Creates a fake of the runtime of Amazon Bedrock, with InvokeModel for Claude and with Chat Completions. It makes no calls and needs no key.
 * Signatures, where there are any, are verified.
 * @example bedrock({ region: 'us-east-1', apiKey: 'any', transport: fakeBedrock().transport })
 */
export function fakeBedrock(options: FakeBedrockOptions = {}): FakeUpstream {
  return fakeUpstream(async (request) => {
    const refused = await refusedCredential(request, options)
    if (refused) return refused
    const { method, path, body } = request
    if (method === 'POST' && path === '/openai/v1/chat/completions') {
      const { model = '' } = (body ?? {}) as { model?: string }
      if (!model.startsWith('openai.gpt-oss-')) return invalid('The provided model identifier is invalid.')
      return openaiAnswer(request, options.delayMs ?? 0)
    }
    const [, id, stream] = /^\/model\/([^/]+)\/invoke(-with-response-stream)?$/.exec(path) ?? []
    if (method !== 'POST' || !id) return failure(404, 'UnknownOperationException', 'Unknown operation')
    return invoke(decodeURIComponent(id), body, stream !== undefined, options)
  }, options)
}

/**
 * The frame of an exception within a stream, such as `throttlingException`.
 * @example const frame = bedrockException('throttlingException', 'Too many requests')
 */
export const bedrockException = (type: string, message: string): Uint8Array =>
  frame({ ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' }, { message })

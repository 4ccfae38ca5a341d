import { isObject } from '@turnpike/core/helpers'
import { messageAnswer } from './fake-anthropic.js'
import type { FakeAnswer, FakeOptions, FakeRequest, FakeUpstream } from './fake-upstream.js'
import { fakeUpstream } from './fake-upstream.js'
import { errorAnswer, json, refused } from './google-answers.js'
import { assertionProblem } from './google-assertion.js'
import { googleContent } from './google-content.js'
import { googleEmbedding } from './google-embeddings.js'
import { tokens } from './simulation.js'
import { toUnit, vectorOf } from './vectors.js'

/** Options of {@link fakeVertex}; without a credential, any is accepted. */
export interface FakeVertexOptions extends FakeOptions {
  /** The only accepted access token, besides those of `account`. */
  token?: string
  /** The service account whose assertions get a token: its e-mail and its public key (SPKI in base64). */
  account?: { email: string; publicKey: string }
  /** Seconds for which such a token is good; default 3,599. */
  seconds?: number
  /** The only project that there is; default any. */
  project?: string
}

const text = new TextDecoder()

const unauthenticated = errorAnswer(
  401,
  'UNAUTHENTICATED',
  'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.',
  [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'ACCESS_TOKEN_TYPE_UNSUPPORTED' }],
)

/** The vectors of `predict`. */
function predict(model: string, body: unknown): FakeAnswer {
  const { instances, parameters } = (isObject(body) ? body : {}) as {
    instances?: { content?: unknown }[]
    parameters?: { outputDimensionality?: number; autoTruncate?: boolean }
  }
  if (/^gemini-embedding-[2-9]/.test(model))
    return errorAnswer(400, 'FAILED_PRECONDITION', 'Precondition check failed.')
  if (!Array.isArray(instances) || instances.length === 0) return refused('Instances must not be empty.')
  if (instances.length > (model.startsWith('gemini-') ? 1 : 250)) return refused('Too many instances in the request.')
  const counts = instances.map(({ content }) => tokens(String(content)))
  if (parameters?.autoTruncate === false && counts.some((one) => one > 2_048))
    return refused('The input text is longer than 2048 tokens.')
  if (counts.reduce((sum, one) => sum + one, 0) > 20_000)
    return refused('The input token count exceeds the maximum of 20000.')
  return json({
    predictions: instances.map(({ content }, i) => ({
      embeddings: {
        values: toUnit(vectorOf(String(content), 768)).slice(0, parameters?.outputDimensionality),
        statistics: { truncated: false, token_count: counts[i] },
      },
    })),
    metadata: { billableCharacterCount: 1 },
  })
}

/** Claude by rawPredict and streamRawPredict. */
function rawPredict(model: string, { body, headers }: FakeRequest, streams: boolean, delayMs: number): FakeAnswer {
  const { anthropic_version: version, ...rest } = (isObject(body) ? body : {}) as Record<string, unknown>
  if (version !== 'vertex-2023-10-16') return refused('anthropic_version: Field required')
  if ('model' in rest) return refused('model: Extra inputs are not permitted')
  if ((rest['stream'] === true) !== streams) return refused('stream: it must be that of the method')
  const betas = (headers['anthropic-beta'] ?? '').split(',')
  return messageAnswer({ ...rest, model: model.replace('@', '-') }, betas, delayMs)
}

/**
 * Creates a fake of Vertex AI, with Gemini, Claude, embeddings and Google's token endpoint. It makes no calls and needs no key; the assertions of a
 * service account are verified by its public key.
 * @example vertex({ project: 'any', token: () => 'any', transport: fakeVertex().transport })
 */
export function fakeVertex(options: FakeVertexOptions = {}): FakeUpstream {
  const { apiKey, token, account, seconds = 3_599, project, delayMs = 0 } = options
  const isOpen = apiKey === undefined && token === undefined && account === undefined
  /** When each token that was given expires, in milliseconds. */
  const given = new Map<string, number>()

  async function giveToken({ bytes, headers: { host } }: FakeRequest): Promise<FakeAnswer> {
    const form = new URLSearchParams(text.decode(bytes))
    const isGrant = form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer'
    const audience = host === undefined ? 'https://oauth2.googleapis.com/token' : `http://${host}/token`
    const problem =
      isGrant && account ? await assertionProblem(form.get('assertion') ?? '', account, audience) : 'Bad Request'
    if (problem) return { ...json({ error: 'invalid_grant', error_description: problem }), status: 400 }
    const access_token = `ya29.simulated-${given.size + 1}`
    given.set(access_token, Date.now() + seconds * 1000)
    return json({ access_token, expires_in: seconds, token_type: 'Bearer' })
  }

  const isKnown = ({ headers }: FakeRequest): boolean => {
    const key = headers['x-goog-api-key']
    const bearer = /^Bearer (.+)$/.exec(headers['authorization'] ?? '')?.[1]
    if (isOpen) return key !== undefined || bearer !== undefined
    if (key !== undefined) return key === apiKey
    return bearer !== undefined && (bearer === token || (given.get(bearer) ?? 0) > Date.now())
  }

  return fakeUpstream(async (request) => {
    const { method: verb, path, body } = request
    const { pathname, searchParams } = new URL(path, 'http://fake')
    if (verb === 'POST' && pathname === '/token') return giveToken(request)
    if (searchParams.has('key') || !isKnown(request)) return unauthenticated
    const [, version, of, publisher, model = '', method = ''] =
      /^\/(v1|v1beta1)(?:\/projects\/([^/]+)\/locations\/[a-z0-9-]+)?\/publishers\/(google|anthropic)\/models\/([^/:]+):(\w+)$/.exec(
        pathname,
      ) ?? []
    if (verb !== 'POST' || !version) return errorAnswer(404, 'NOT_FOUND', `${pathname} was not found.`)
    if (of === undefined && request.headers['x-goog-api-key'] === undefined) return unauthenticated
    if (project !== undefined && of !== undefined && of !== project)
      return errorAnswer(403, 'PERMISSION_DENIED', `Permission 'aiplatform.endpoints.predict' denied on resource.`)
    if (publisher === 'anthropic') {
      if (of === undefined || !model.startsWith('claude-') || !/^(rawPredict|streamRawPredict)$/.test(method))
        return errorAnswer(404, 'NOT_FOUND', `Publisher Model \`publishers/anthropic/models/${model}\` was not found.`)
      return rawPredict(model, request, method === 'streamRawPredict', delayMs)
    }
    switch (method) {
      case 'generateContent':
        return googleContent(model, body, { streams: false, events: false, delayMs })
      case 'streamGenerateContent':
        return googleContent(model, body, { streams: true, events: searchParams.get('alt') === 'sse', delayMs })
      case 'predict':
        return predict(model, body)
      case 'embedContent':
        return model.startsWith('gemini-embedding-001')
          ? refused('The model is not supported in the embedContent API.')
          : googleEmbedding(model, body)
    }
    return errorAnswer(404, 'NOT_FOUND', `Publisher Model \`publishers/google/models/${model}\` was not found.`)
  }, options)
}

import type { FakeOptions, FakeUpstream } from './fake-upstream.js'
import { fakeUpstream } from './fake-upstream.js'
import { errorAnswer, json } from './google-answers.js'
import { googleContent } from './google-content.js'
import { googleBatchEmbedding, googleEmbedding } from './google-embeddings.js'

const invalidKey = {
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason: 'API_KEY_INVALID',
  domain: 'googleapis.com',
  metadata: { service: 'generativelanguage.googleapis.com' },
}

const models = ['gemini-2.5-flash', 'gemini-2.5-pro'].map((id) => ({
  name: `models/${id}`,
  supportedGenerationMethods: ['generateContent', 'countTokens'],
}))

/**
 * Creates a fake of Google's Gemini API, which makes no calls and needs no key.
 * @example google({ apiKey: 'any', transport: fakeGoogle().transport })
 */
export function fakeGoogle(options: FakeOptions = {}): FakeUpstream {
  const { apiKey, delayMs = 0 } = options
  return fakeUpstream((request) => {
    const { pathname, searchParams } = new URL(request.path, 'http://fake')
    const key = request.headers['x-goog-api-key']
    if (searchParams.has('key') || !key || (apiKey !== undefined && key !== apiKey))
      return errorAnswer(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [invalidKey])
    if (request.method === 'GET' && pathname.endsWith('/v1beta/models')) return json({ models })
    const [, model, method] = /\/v1beta\/models\/([^/:]+):(\w+)$/.exec(decodeURIComponent(pathname)) ?? []
    if (/-(live|native-audio)/.test(model ?? ''))
      return errorAnswer(404, 'NOT_FOUND', `models/${model} is not supported for ${method}.`)
    const { body } = request
    const events = searchParams.get('alt') === 'sse'
    if (request.method === 'POST' && model)
      switch (method) {
        case 'generateContent':
          return googleContent(model, body, { streams: false, events, delayMs })
        case 'streamGenerateContent':
          return googleContent(model, body, { streams: true, events, delayMs })
        case 'embedContent':
          return googleEmbedding(model, body)
        case 'batchEmbedContents':
          return googleBatchEmbedding(model, body)
      }
    return errorAnswer(404, 'NOT_FOUND', `${request.method} ${pathname} is not found for API version v1beta.`)
  }, options)
}

import type { FakeAnswer, FakeOptions, FakeRequest, FakeUpstream } from './fake-upstream.js'
import { fakeUpstream } from './fake-upstream.js'
import { json, refused } from './openai-answers.js'
import { openaiChat } from './openai-chat.js'
import { openaiEmbeddings } from './openai-embeddings.js'
import { openaiImages } from './openai-images.js'
import { refuse } from './openai-refusals.js'
import { openaiSpeech } from './openai-speech.js'
import { openaiTranscription } from './openai-transcriptions.js'

/** The handlers by the end of the path. */
const endpoints: [path: string, answer: (request: FakeRequest, delayMs: number) => FakeAnswer | Promise<FakeAnswer>][] =
  [
    ['/chat/completions', openaiChat],
    ['/embeddings', openaiEmbeddings],
    ['/images/generations', openaiImages],
    ['/audio/speech', openaiSpeech],
    ['/audio/transcriptions', openaiTranscription],
  ]

const models = ['gpt-4o', 'gpt-4o-mini'].map((id) => ({
  id,
  object: 'model',
  created: 1_715_367_049,
  owned_by: 'system',
}))

/** What the API answers to a request whose credential is good. */
export function openaiAnswer(request: FakeRequest, delayMs: number): FakeAnswer | Promise<FakeAnswer> {
  const { method, path } = request
  if (method === 'GET' && path.endsWith('/models')) return json({ object: 'list', data: models })
  const [, answer] = endpoints.find(([end]) => method === 'POST' && path.endsWith(end)) ?? []
  return answer ? answer(request, delayMs) : refused(refuse(`Invalid URL (${method} ${path})`, null, null, 404))
}

/**
 * Creates a fake of the OpenAI API, which makes no calls and needs no key.
 * @example openai({ apiKey: 'any', transport: fakeOpenAI().transport })
 */
export function fakeOpenAI(options: FakeOptions = {}): FakeUpstream {
  const { apiKey, delayMs = 0 } = options
  return fakeUpstream((request) => {
    const key = /^Bearer (.+)$/.exec(request.headers['authorization'] ?? '')?.[1]
    if (!key || (apiKey !== undefined && key !== apiKey))
      return refused(refuse(`Incorrect API key provided: ${key ?? ''}.`, null, 'invalid_api_key', 401))
    return openaiAnswer(request, delayMs)
  }, options)
}

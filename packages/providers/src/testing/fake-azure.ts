import type { FakeAnswer, FakeOptions, FakeRequest, FakeUpstream } from './fake-upstream.js'
import { fakeUpstream } from './fake-upstream.js'
import { openaiAnswer } from './fake-openai.js'
import { json } from './openai-answers.js'

/** Options of {@link fakeAzure}. */
export interface FakeAzureOptions extends FakeOptions {
  /** The only accepted token of Entra ID; default none. */
  token?: string
  /** The model of each deployment; default every deployment exists, and is called as its model. */
  deployments?: Readonly<Record<string, string>>
}

const failure = (status: number, code: string, message: string, more: object = {}): FakeAnswer =>
  json({ error: { code, message, ...more } }, status)

const harmless = Object.fromEntries(
  ['hate', 'self_harm', 'sexual', 'violence'].map((category) => [category, { filtered: false, severity: 'safe' }]),
)
const promptResults = { prompt_filter_results: [{ prompt_index: 0, content_filter_results: harmless }] }

const filtered = failure(
  400,
  'content_filter',
  "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
  {
    type: null,
    param: 'prompt',
    status: 400,
    innererror: {
      code: 'ResponsibleAIPolicyViolation',
      content_filter_result: { ...harmless, violence: { filtered: true, severity: 'medium' } },
    },
  },
)

const latin1 = new TextDecoder('latin1')

/** A request with the model in place of the deployment, in a JSON body or a form. */
function withModel(request: FakeRequest, path: string, model: string): FakeRequest {
  if (request.body !== undefined) return { ...request, path, body: { ...(request.body as object), model } }
  const form = latin1.decode(request.bytes).replace(/(name="model"\r\n\r\n)[^\r]*/, `$1${model}`)
  return { ...request, path, bytes: Uint8Array.from(form, (character) => character.charCodeAt(0)) }
}

/** Azure tells in the first chunk, without choices, what its filter found in the prompt. */
async function* withPreamble(events: AsyncIterable<string | Uint8Array>): AsyncGenerator<string | Uint8Array> {
  yield `data: ${JSON.stringify({ choices: [], created: 0, id: '', model: '', object: '', ...promptResults })}\n\n`
  yield* events
}

/** Adds what the filter found to an answer of chat. */
function withResults(answer: FakeAnswer): FakeAnswer {
  if (answer.status !== 200) return answer
  if (typeof answer.body !== 'string')
    return { ...answer, body: withPreamble(answer.body as AsyncIterable<string | Uint8Array>) }
  const { choices, ...rest } = JSON.parse(answer.body) as { choices: object[] }
  return json({
    ...rest,
    choices: choices.map((choice) => ({ ...choice, content_filter_results: harmless })),
    ...promptResults,
  })
}

/**
 * Creates a fake of a resource of Azure OpenAI, with its v1 API and its dated API. It makes no calls and needs no key; its filter blocks prompts
 * with the word FORBIDDEN.
 * @example azure({ baseURL: 'https://fake.openai.azure.com', apiKey: 'any', transport: fakeAzure().transport })
 */
export function fakeAzure(options: FakeAzureOptions = {}): FakeUpstream {
  const { apiKey, token, deployments, delayMs = 0 } = options
  return fakeUpstream(async (request) => {
    const { method, headers, bytes } = request
    const key = headers['api-key']
    const isKnown =
      token !== undefined && key === undefined
        ? headers['authorization'] === `Bearer ${token}`
        : Boolean(key) && (apiKey === undefined || key === apiKey)
    if (!isKnown)
      return failure(
        401,
        '401',
        'Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.',
      )
    const { pathname, searchParams } = new URL(request.path, 'http://fake')
    const [, dated, path] = /^\/openai(?:\/v1|(?:\/deployments\/([\w.-]+))?)(\/[a-z/]+)$/.exec(pathname) ?? []
    const isV1 = pathname.startsWith('/openai/v1/')
    const isDated = /^\d{4}-\d\d-\d\d(-preview)?$/.test(searchParams.get('api-version') ?? '')
    if (!path || isV1 === isDated || (method === 'POST' && !isV1 && dated === undefined))
      return failure(404, '404', 'Resource not found')
    if (method === 'GET') return openaiAnswer({ ...request, path }, delayMs)
    const named =
      dated ??
      (request.body as { model?: string } | undefined)?.model ??
      /name="model"\r\n\r\n([^\r]*)/.exec(latin1.decode(bytes))?.[1] ??
      ''
    const model = deployments ? deployments[named] : named
    if (!model)
      return failure(
        404,
        'DeploymentNotFound',
        'The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.',
      )
    if (path !== '/chat/completions') return openaiAnswer(withModel(request, path, model), delayMs)
    if (JSON.stringify(request.body).includes('FORBIDDEN')) return filtered
    return withResults(await openaiAnswer(withModel(request, path, model), delayMs))
  }, options)
}

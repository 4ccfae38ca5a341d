import type { Operation } from './document.js'
import { answerTypes, fillPath, isStream, requiredOf, tokenOf } from './document.js'
import { bodyOf } from './example.js'
import { call, code, literal } from './literal.js'

/** A variable of the environment. */
const secret = (name: string | undefined): object | undefined =>
  name === undefined ? undefined : code(`process.env.${name}!`)

const lines = (...all: string[]): string => all.join('\n')

const importOf = (what: string, from: string): string => `import ${what} from ${literal(from)}`

/** By `fetch`, which every runtime has. */
function byFetch(operation: Operation, base: string): string {
  const { method } = operation
  const token = tokenOf(operation)
  const body = bodyOf(operation)
  const url = fillPath(operation, {
    text: (text) => text.replaceAll(/[`\\]|\$(?=\{)/g, '\\$&'),
    value: (name) => `\${encodeURIComponent(${name})}`,
  })
  const headers = {
    Authorization: token && code(`\`Bearer \${process.env.${token}}\``),
    'Content-Type': body?.mediaType,
  }
  const init = {
    method: method === 'GET' ? undefined : method,
    headers: token || body ? headers : undefined,
    body: body && code(`JSON.stringify(${literal(body.example, '  ')})`),
  }
  const types = answerTypes(operation)
  const read = types.some((type) => type.includes('json')) ? '.json' : types.length > 0 ? '.text' : ''
  return lines(
    call('const response = await fetch', code(`\`${base}${url}\``), init),
    `console.log(response.status${read && `, await response${read}()`})`,
  )
}

type Fields = Record<string, unknown>

/** Calls of the `openai` package, by method and path: whole and, where it can be, as a stream. */
const openaiCalls: Record<string, (body: Fields) => string[]> = {
  'POST /v1/chat/completions': (body) => [
    lines(
      call('const completion = await openai.chat.completions.create', body),
      'console.log(completion.choices[0]?.message.content)',
    ),
    lines(
      call('const stream = await openai.chat.completions.create', { ...body, stream: true }),
      'for await (const chunk of stream)',
      '  console.log(chunk.choices[0]?.delta.content)',
    ),
  ],
  'POST /v1/embeddings': (body) => [call('const { data } = await openai.embeddings.create', body)],
  'POST /v1/images/generations': (body) => [call('const { data } = await openai.images.generate', body)],
  'POST /v1/audio/speech': (body) => [
    lines(call('const speech = await openai.audio.speech.create', body), 'const bytes = await speech.arrayBuffer()'),
  ],
  'POST /v1/audio/transcriptions': ({ model }) => [
    lines(
      "const file = await openAsBlob('speech.mp3')",
      call('const { text } = await openai.audio.transcriptions.create', {
        model,
        file: code("new File([file], 'speech.mp3')"),
      }),
    ),
  ],
  'GET /v1/models': () => ['for await (const { id } of openai.models.list()) console.log(id)'],
  'GET /v1/models/{model}': () => ['const found = await openai.models.retrieve(model)'],
}

const byOpenai = (text: string, base: string): string =>
  lines(
    ...(text.includes('openAsBlob') ? [importOf('{ openAsBlob }', 'node:fs')] : []),
    importOf('OpenAI', 'openai'),
    '',
    call('const openai = new OpenAI', { baseURL: `${base}/v1`, apiKey: secret('GATEWAY_KEY') }),
    text,
  )

/** Calls of `@turnpike/client` that have names of their own, by method and path. */
const ownCalls: Record<string, (body: Fields) => string> = {
  'POST /api/auth': (body) => call('const user = await turnpike.signIn', body),
  'PUT /api/auth': () => lines('// Requests do so by themselves.', 'const user = await turnpike.refresh()'),
  'DELETE /api/auth': () => call('await turnpike.signOut', { scope: 'local' }),
  'POST /api/user-files': (fields) =>
    call('const file = await turnpike.upload', code("new Blob(['Hello!'])"), { name: 'hello.txt', fields }),
}

/** Parameters as variables of their names. */
const variables = (names: string[]): object | undefined =>
  names.length > 0 ? Object.fromEntries(names.map((name) => [name, code(name)])) : undefined

/** Calls of `@turnpike/client`, typed by path: whole and as a stream. */
function clientCalls(operation: Operation): string[] {
  const { method, path, parameters } = operation
  const types = answerTypes(operation)
  const given = {
    params: variables(requiredOf(operation, 'path')),
    query: variables(requiredOf(operation, 'query')),
    body: bodyOf(operation)?.example,
  }
  const isList = parameters.some((one) => one.in === 'query' && one.name === 'after')
  const result = isList ? 'const { items, next } = ' : types.length > 0 ? 'const answer = ' : ''
  const whole = call(`${result}await turnpike.${isList ? 'list' : method.toLowerCase()}`, path, given)
  const streamed = lines(
    call('const events = turnpike.stream', path, given),
    'for await (const event of events) console.log(event)',
  )
  const streams = types.filter(isStream).length
  return [...(streams < types.length || types.length === 0 ? [whole] : []), ...(streams > 0 ? [streamed] : [])]
}

const byClient = (text: string, base: string, token: string | undefined): string =>
  lines(
    importOf('{ createClient }', '@turnpike/client'),
    '',
    call('const turnpike = createClient', { baseUrl: base, token: secret(token) }),
    text,
  )

/** Programs that call an operation: whole and, where it can be, as a stream. */
export function typescript(operation: Operation, base: string): string[] {
  const { method, path } = operation
  const key = `${method} ${path}`
  const body = (bodyOf(operation)?.example ?? {}) as Fields
  const openai = openaiCalls[key]
  if (openai) return openai(body).map((text) => byOpenai(text, base))
  const own = ownCalls[key]
  // These are with a session and not with a token.
  const token = path === '/api/auth' ? undefined : tokenOf(operation)
  if (own) return [byClient(own(body), base, token)]
  if (path.startsWith('/api/')) return clientCalls(operation).map((text) => byClient(text, base, token))
  return [byFetch(operation, base)]
}

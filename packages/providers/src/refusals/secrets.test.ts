import type { Provider } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import { toBase64 } from '@turnpike/core/helpers'
import { describe, expect, it } from 'vitest'
import { anthropic } from '../anthropic/index.js'
import { azure } from '../azure.js'
import { bedrock } from '../bedrock/index.js'
import { google, googleEndpoints } from '../google/index.js'
import { openai } from '../openai/index.js'
import { preset } from '../presets.js'
import { createProvider, toChunks } from '../provider.js'
import { openaiChat } from '../openai/index.js'
import { Secrets } from './secrets.js'
import { frame } from '../testing/aws-frames.js'
import type { FakeAnswer } from '../testing/index.js'
import { bedrockException, fakeUpstream } from '../testing/index.js'
import type { Transport } from '../upstream/transport.js'
import { vertex } from '../vertex/index.js'

const call = { signal: new AbortController().signal }
const messages = [{ role: 'user' as const, content: 'Hi' }]

/** A key that nothing in its form shows to be one. */
const KEY = 'hunter2-internal-42'
/** One that JSON and URLs write in another way. */
const QUOTED = 'hunter2 "in/ternal" \\42'
const aws = { accessKeyId: 'access-id', secretAccessKey: 'hunter2/aws+secret', sessionToken: 'hunter2/aws+session==' }

async function newAccount() {
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048 }
  const usage = { ...algorithm, publicExponent: new Uint8Array([1, 0, 1]) }
  const { privateKey } = await crypto.subtle.generateKey(usage, true, ['sign', 'verify'])
  const lines = toBase64(new Uint8Array(await crypto.subtle.exportKey('pkcs8', privateKey))).match(/.{1,64}/g)!
  const private_key = `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`
  return { key: { client_email: 'a@b.example', project_id: 'acme', private_key }, lines }
}
const { key: account, lines } = await newAccount()

type Form = 'openai' | 'anthropic' | 'google' | 'frames'
interface Door {
  model: string
  form: Form
  /** What the upstream repeats. */
  secrets: string[]
  make(transport: Transport): Provider
}

const doors: Record<string, Door> = {
  openai: {
    model: 'gpt-4o',
    form: 'openai',
    secrets: [KEY],
    make: (transport) => openai({ apiKey: KEY, transport, models: 'live' }),
  },
  'openai, with a function': {
    model: 'gpt-4o',
    form: 'openai',
    secrets: [KEY],
    make: (transport) => openai({ apiKey: () => Promise.resolve(KEY), transport, models: 'live' }),
  },
  'a preset': {
    model: 'x',
    form: 'openai',
    secrets: [QUOTED],
    make: (transport) => preset('groq', { apiKey: QUOTED, transport }),
  },
  anthropic: {
    model: 'claude-sonnet-4-5',
    form: 'anthropic',
    secrets: [KEY],
    make: (transport) => anthropic({ apiKey: KEY, transport, models: 'live' }),
  },
  google: {
    model: 'gemini-2.5-flash',
    form: 'google',
    secrets: [KEY],
    make: (transport) =>
      google({ apiKey: KEY, transport, models: 'live', endpoints: googleEndpoints({ audio: true }) }),
  },
  azure: {
    model: 'gpt-4o',
    form: 'openai',
    secrets: [KEY],
    make: (transport) => azure({ baseURL: 'https://a.openai.azure.com', apiKey: KEY, transport, models: 'live' }),
  },
  'azure, with a token and the dated API': {
    model: 'gpt-4o',
    form: 'openai',
    secrets: [KEY],
    make: (transport) =>
      azure({ baseURL: 'https://a.openai.azure.com', token: () => KEY, apiVersion: '2024-10-21', transport }),
  },
  'vertex, Gemini with a service account': {
    model: 'gemini-2.5-flash',
    form: 'google',
    secrets: [KEY, account.private_key, lines.join(''), ...lines.slice(0, -1)],
    make: (transport) => vertex({ credentials: account, transport }),
  },
  'vertex, Claude with a token': {
    model: 'claude-sonnet-4-5@20250929',
    form: 'anthropic',
    secrets: [KEY],
    make: (transport) => vertex({ project: 'acme', token: () => KEY, transport }),
  },
  'vertex, with an API key': {
    model: 'gemini-2.5-flash',
    form: 'google',
    secrets: [KEY],
    make: (transport) => vertex({ apiKey: KEY, transport }),
  },
  'bedrock, Claude with an API key': {
    model: 'anthropic.claude-sonnet-4-5',
    form: 'frames',
    secrets: [KEY],
    make: (transport) => bedrock({ region: 'us-east-1', apiKey: KEY, transport }),
  },
  'bedrock, Claude with credentials': {
    model: 'anthropic.claude-sonnet-4-5',
    form: 'frames',
    secrets: [aws.secretAccessKey, aws.sessionToken],
    make: (transport) => bedrock({ region: 'us-east-1', credentials: aws, transport }),
  },
  'bedrock, others with a function of credentials': {
    model: 'openai.gpt-oss-120b',
    form: 'openai',
    secrets: [aws.secretAccessKey, aws.sessionToken],
    make: (transport) => bedrock({ region: 'us-east-1', credentials: async () => aws, transport }),
  },
  'a provider of one’s own': {
    model: 'x',
    form: 'openai',
    secrets: [KEY],
    make: (transport) =>
      createProvider({
        id: 'mine',
        baseURL: 'https://mine.example',
        headers: { 'X-Api-Key': KEY },
        chat: openaiChat('mine'),
        models: [],
        owns: () => true,
        transport,
      }),
  },
}

/** The events with which an answer begins. */
const beginnings: Record<Form, object[]> = {
  openai: [{ id: 'c', model: 'x', choices: [{ index: 0, delta: { content: 'Hi' } }] }],
  anthropic: [
    { type: 'message_start', message: { id: 'm', model: 'x', usage: { input_tokens: 1, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
  ],
  google: [{ candidates: [{ content: { parts: [{ text: 'Hi' }] } }] }],
  frames: [],
}
beginnings.frames = beginnings.anthropic

const utf8 = new TextEncoder()

/** A stream of Server-Sent Events, or of AWS's frames, that ends with an error. */
const stream = (form: Form, events: object[], message: string, error: object): FakeAnswer => ({
  status: 200,
  headers: {
    'content-type': form === 'frames' ? 'application/vnd.amazon.eventstream' : 'text/event-stream',
  },
  body: (async function* () {
    if (form !== 'frames') {
      for (const event of [...events, error]) yield `data: ${JSON.stringify(event)}\n\n`
      return
    }
    for (const event of events)
      yield frame({ ':message-type': 'event' }, { bytes: toBase64(utf8.encode(JSON.stringify(event))) })
    yield bedrockException('validationException', message)
  })(),
})
const whole = (body: object | string, status = 200, headers: Record<string, string> = {}): FakeAnswer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

const errorOf = (message: string, word: string) => ({
  type: 'error',
  error: { type: word, code: word, status: word, message },
})

/** Answers that repeat secrets. */
const answers: Record<string, (message: string, word: string, form: Form) => FakeAnswer> = {
  'a 400': (message, word) => whole(errorOf(message, word), 400),
  'a 401 that is a page': (message) => whole(`<html><body>${message}</body></html>`, 401),
  'a type of error in a header': (message, word) => whole({ message }, 403, { 'x-amzn-errortype': word }),
  'an error in place of an answer': (message, word) => whole(errorOf(message, word)),
  'an error within JSON within an error': (message, word) =>
    whole(errorOf(`Upstream: ${JSON.stringify({ message })} ${encodeURIComponent(message)}`, word)),
  'an error in place of a stream': (message, word, form) => stream(form, [], message, errorOf(message, word)),
  'an error within a stream': (message, word, form) => stream(form, beginnings[form], message, errorOf(message, word)),
  'a reason of its end': (_, word, form) => {
    const reason = `error ${word}`
    return whole(
      form === 'google'
        ? { candidates: [{ finishReason: reason, content: { parts: [] } }] }
        : { type: 'message', content: [], stop_reason: reason, choices: [{ message: {}, finish_reason: reason }] },
    )
  },
  'a media type': (_, word) => whole('{}', 200, { 'content-type': `image/${word}` }),
  'a content encoding': (_, word) => whole('{}', 200, { 'content-encoding': word }),
}
/** Answers of OpenAI's form only. */
const ofChoices: typeof answers = {
  'an error of a choice': (message, word) =>
    whole({ choices: [{ index: 0, message: { content: 'Hi' }, error: { message, code: word } }] }),
  'an error of a choice within a stream': (message, word, form) =>
    stream(form, beginnings[form], message, {
      choices: [{ index: 0, delta: {}, finish_reason: 'error', error: { message, code: word } }],
    }),
}

/** All that an error tells, whoever looks into it. */
function told(error: unknown): string {
  const { message, stack, cause } = error as Error
  const failure = UpstreamError.is(error) ? JSON.stringify(error.failure) : ''
  return [message, stack, failure, cause ? told(cause) : ''].join('\n')
}

/** Calls everything that a provider has, and returns what its errors and lists tell. */
async function everything({ model, make }: Door, answer: (streams: boolean) => FakeAnswer): Promise<string[]> {
  const upstream = fakeUpstream(({ path, body }) =>
    path === '/token'
      ? whole({ access_token: KEY, expires_in: 3600 })
      : answer(/stream/.test(path) || (body as { stream?: boolean } | undefined)?.stream === true),
  )
  const { chat, embeddings, images, speech, transcription, check, models } = make(upstream.transport)
  const audio = utf8.encode('RIFF')
  const file = {
    name: 'a.wav',
    type: 'audio/wav',
    size: 4,
    read: async function* () {
      yield audio
    },
  }
  const runs: (() => Promise<unknown> | undefined)[] = [
    () => chat!.complete({ model, messages }, call),
    async () => {
      const all = []
      for await (const chunk of toChunks(await chat!.stream({ model, messages, stream: true }, call))) all.push(chunk)
      return all
    },
    () => embeddings?.({ model: model.replace('flash', 'embedding'), input: 'a' }, call),
    () => images?.({ model, prompt: 'a' }, call),
    () => speech?.({ model, input: 'a', voice: 'alloy' }, call),
    () => transcription?.({ model, file }, call),
    () => check?.(call),
    () => models(call),
  ]
  const found: string[] = []
  for (const run of runs) {
    const result = await (async () => run())().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    found.push('error' in result ? told(result.error) : JSON.stringify(result.value ?? null))
  }
  return found
}

describe.each(Object.entries(doors))('threat 79: the credentials of %s', (_, door) => {
  const possible = { ...answers, ...(door.form === 'openai' && ofChoices) }

  it.each(Object.entries(possible))('are not told by %s', async (_, answer) => {
    const message = `Not for ${door.secrets.join(' or ')}!`
    let hidden = 0
    for (const secret of door.secrets.slice(0, 2)) {
      const found = await everything(door, () => answer(message, secret, door.form))
      for (const text of found) for (const one of door.secrets) expect(text).not.toContain(one)
      hidden += found.join().split('[redacted]').length - 1
    }
    expect(hidden).toBeGreaterThan(0)
  })

  it('are not told by its list of models', async () => {
    const [secret] = door.secrets
    const list = [{ id: `x-${secret}`, owned_by: secret }]
    const found = await everything(door, () => whole({ data: list, models: list.map(({ id }) => ({ name: id })) }))
    expect(found.at(-1)).not.toContain(secret)
  })
})

it('threat 79: a service account is not told by the endpoint of its tokens', async () => {
  const [line] = lines
  const refusal = fakeUpstream(() => whole({ error: 'invalid_grant', error_description: `No: ${line}` }, 400))
  const provider = vertex({ credentials: account, transport: refusal.transport })
  const error: unknown = await provider.chat.complete({ model: 'gemini-2.5-flash', messages }, call).catch((e) => e)
  expect(told(error)).toContain('The credential for the upstream could not be had')
  expect(told(error)).not.toContain(line)
})

it('threat 79: a key is not told by a text that is cut within it', async () => {
  const head = '<html><style>'
  const page = `${head}${'x'.repeat(4000 - head.length - '</style>hunter2-in'.length)}</style>${KEY}`
  const { transport } = fakeUpstream(() => whole(page, 400))
  const answer = openai({ apiKey: KEY, transport }).chat.complete({ model: 'gpt-4o', messages }, call)
  expect(told(await answer.catch((error: unknown) => error))).not.toContain('hunter2')
})

describe('secrets', () => {
  it('are hidden as they are written within JSON, URLs and HTML, and the longest first', () => {
    const secrets = new Secrets()
    secrets.keep('hunter2-internal', 'hunter2-internal-42', QUOTED)
    const written = [QUOTED, JSON.stringify({ key: QUOTED }), encodeURIComponent(QUOTED), 'hunter2-internal-42'].join()
    expect(secrets.hide(written)).toBe('[redacted],{"key":"[redacted]"},[redacted],[redacted]')
    secrets.keep(`a&b<c>"d'`)
    expect(secrets.hide('a&amp;b&lt;c&gt;&quot;d&#39;')).toBe('[redacted]')
  })

  it('that are too short to be any are words', () => {
    const secrets = new Secrets()
    secrets.keep('', 'ollama')
    expect(secrets.hide('ollama is busy')).toBe('ollama is busy')
  })

  it('that expire are forgotten after a hundred others, and those that last are not', () => {
    const secrets = new Secrets()
    secrets.keep('lasting-key')
    for (let i = 0; i <= 100; i++) secrets.add(`${i}-expiring`, 'often-used')
    expect(secrets.hide('lasting-key 0-expiring 2-expiring often-used')).toBe(
      '[redacted] 0-expiring [redacted] [redacted]',
    )
  })
})

import type { Hold, KeyInput, Signal, UsageRecord } from '@turnpike/core'
import { createUser, getUser, memoryKV, verifyStore } from '@turnpike/core'
import type { Gateway, GatewayOptions } from '@turnpike/gateway'
import { createGateway } from '@turnpike/gateway'
import { createRouter, openai } from '@turnpike/providers'
import type { FakeAnswer, FakeRequest } from '@turnpike/providers/testing'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { contractOfRoutes } from './contract.js'
import { checked } from './contract-checks.js'

export const OWNER = '01900000-0000-7000-8000-000000000001'

export interface TestOptions extends Partial<GatewayOptions> {
  /** Answers in place of the fake OpenAI. */
  upstream?: (request: FakeRequest) => FakeAnswer | undefined
  /** Requests per minute of the key; default 1,000. */
  rateLimit?: number
}

/** A gateway in this process in front of a fake OpenAI, with a user and a key, and what its hooks were told. */
export async function testGateway({ upstream: override, rateLimit = 1_000, ...options }: TestOptions = {}) {
  const clock = { now: Date.UTC(2026, 0, 2) }
  const upstream = fakeOpenAI(override && { override })
  const kv = options.kv ?? (await memoryKV())
  const signals: Signal[] = []
  const transport: typeof upstream.transport = (request) => {
    signals.push(request.signal)
    return upstream.transport(request)
  }
  const errors: unknown[] = []
  const logs: Record<string, unknown>[] = []
  const made = createGateway({
    router: createRouter({ providers: [openai({ apiKey: 'sk-upstream-secret', transport })] }),
    now: () => clock.now,
    onError: (error) => errors.push(error),
    onRequest: (log) => logs.push(log),
    ...options,
    kv,
  })
  const contract = contractOfRoutes(made.routes)
  const gateway: Gateway = {
    ...made,
    fetch: async (request) => checked(request.method, request.url, await made.fetch(request), contract),
  }
  if (!(await getUser(kv, OWNER))) await createUser(kv, { id: OWNER })
  const { key, id: keyId } = await gateway.keys.create(OWNER, { name: 'test', rateLimit })

  const ask = (method: string, path: string, type: string, body: string | ArrayBuffer | undefined, init: RequestInit) =>
    gateway.fetch(
      new Request(`https://gw.example${path}`, {
        method,
        ...(body !== undefined && { body }),
        ...init,
        headers: { authorization: `Bearer ${key}`, 'content-type': type, ...init.headers },
      } as RequestInit),
    )

  /** Sends JSON, also as a text, or a form. */
  const send = (method: string, path: string, body?: string | object, init: RequestInit = {}): Promise<Response> => {
    if (!(body instanceof FormData))
      return ask(method, path, 'application/json', typeof body === 'object' ? JSON.stringify(body) : body, init)
    // As bytes: undici goes on with the body of a form whose reader has left, and that fails in nobody's call.
    const form = new Response(body)
    return form.arrayBuffer().then((bytes) => ask(method, path, form.headers.get('content-type')!, bytes, init))
  }

  return {
    gateway,
    upstream,
    /** The signals of the upstream calls. */
    signals,
    kv,
    clock,
    key,
    keyId,
    errors,
    logs,
    send,
    /** Sends a chat request with `fields` over a small valid one. */
    chat: (fields: object = {}, init: RequestInit = {}) =>
      send(
        'POST',
        '/v1/chat/completions',
        { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }], ...fields },
        init,
      ),
    /** What the upstream was sent last. */
    sent: () => upstream.requests.at(-1)?.body as Record<string, unknown> | undefined,
    records: async (): Promise<UsageRecord[]> => (await gateway.ledger.records(OWNER)).items,
  }
}

/** A gateway that is called with a key of these properties, in front of an upstream that answers with {@link completion}. */
export async function withKey(input: Partial<KeyInput>, options: TestOptions = {}) {
  const at = await testGateway({ upstream: () => completion(), ...options })
  const { key, id } = await at.gateway.keys.create(OWNER, { name: 'limited', rateLimit: 1_000, ...input })
  const init = { headers: { authorization: `Bearer ${key}` } }
  const holds = async () => (await at.kv.list<Hold>(['hold'])).items.map(({ value }) => value)
  const problems = async () => {
    const found: string[] = []
    for await (const problem of verifyStore(at.kv)) found.push(problem)
    return found
  }
  return { ...at, id, init, holds, problems, ask: (fields: object = {}) => at.chat(fields, init) }
}

/** A whole answer of an upstream. */
export const answer = (body: unknown, status = 200, headers: Record<string, string> = {}): FakeAnswer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

/** A whole chat completion of an upstream, with `fields` over those of a small one. */
export const completion = (fields: object = {}): FakeAnswer =>
  answer({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 5,
    model: 'gpt-4o-2024',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    ...fields,
  })

/** What a {@link completion} costs with gpt-4o, in nano-dollars: 9 · 2_500 + 3 · 10_000. */
export const COST = 52_500

/** A streamed answer of an upstream: an event per piece; an error breaks it off, a promise is waited for. */
export const streamed = (...pieces: (object | string | Error | Promise<unknown>)[]): FakeAnswer => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: (async function* () {
    for (const piece of pieces)
      if (piece instanceof Error) throw piece
      else if (piece instanceof Promise) await piece
      else yield `data: ${typeof piece === 'string' ? piece : JSON.stringify(piece)}\n\n`
  })(),
})

/** A chunk of an upstream's stream. */
export const chunk = (content: string, finish_reason: string | null = null, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 5,
  model: 'gpt-4o-2024',
  choices: [{ index: 0, delta: { content }, finish_reason }],
  ...more,
})

/** The error in a gateway error body. */
export const errorOf = async (response: Response): Promise<unknown> =>
  ((await response.json()) as { error: unknown }).error

import { cases } from './cases/index.js'
import type { Case, Suite } from './case.js'
import { suites } from './case.js'
import { send } from './client.js'
import { show } from './expect.js'
import type { Family, FamilyName } from './families/family.js'
import { replies } from './families/index.js'
import type { Passed } from './passed.js'
import { expectError, joinedChoices } from './passed.js'
import { readStream } from './sse.js'
import type { CurrentCase, Upstreams } from './upstream.js'
import { startUpstreams } from './upstream.js'

export const DEFAULT_UPSTREAM_PORT = 9797

/** Milliseconds after which a case without an answer has failed. */
const CASE_MS = 30_000

/** What {@link runConformance} tests, and how its requests are made. */
export interface ConformanceOptions {
  /** The gateway's base URL, with or without `/v1` at its end. */
  url: string
  /** Sent as `Authorization: Bearer …`; default none. */
  key?: string
  /** Headers of every request. */
  headers?: Record<string, string>
  /** Headers of the requests for one family, over those of every request. */
  familyHeaders?: Partial<Record<FamilyName, Record<string, string>>>
  /** The models to ask for; default `gpt-4o`, `claude-sonnet-4-5` and `gemini-2.5-flash`. */
  models?: Partial<Record<FamilyName, string>>
  /** How the gateway calls a model of the OpenAI upstream that is not OpenAI's; `*` stands for its name there. Default `*`. */
  otherModels?: string
  /** Selects the cases that match all of these: a suite, a family, or a part of the name. Default all cases. */
  only?: string[]
  /** Port of the upstreams on the loopback interface; default 9797. */
  upstreamPort?: number
  /** Called after each case. */
  onResult?: (result: Result) => void
}

/** The result of a case. */
export interface Result {
  suite: Suite
  family: FamilyName
  name: string
  passed: boolean
  /** What was expected and what came, where it failed. */
  reason?: string
  /** Where the rule comes from. */
  source: string
}

/** The results of a run, in the order of the cases. */
export interface Report {
  url: string
  results: Result[]
}

/** Nothing could be tested: the message says why. */
export class ConformanceError extends Error {
  override name = 'ConformanceError'
}

/** The cases that match every one of `only`. */
export const selected = (only: readonly string[]): Case[] =>
  cases.filter(({ suite, family, name }) =>
    only.every((word) =>
      (suites as readonly string[]).includes(word)
        ? word === suite
        : word === family.name || name.toLowerCase().includes(word.toLowerCase()),
    ),
  )

const contentOf = (text: string): string => joinedChoices(readStream(text))[0]?.content ?? ''

const chat = '/chat/completions'

/** How a request to the gateway is made. */
type Request = Pick<ConformanceOptions, 'key' | 'headers' | 'familyHeaders' | 'models' | 'otherModels'> & {
  base: string
}

/** The gateway's name of the model of a case: `openai/gpt-5.5` where it calls the family's `openai/gpt-4o`. */
function modelOf({ models, otherModels = '*' }: Request, { suite, family, model = family.model }: Case): string {
  if (suite === 'servers') return otherModels.replace('*', model)
  const name = models?.[family.name] ?? family.model
  if (model === family.model) return name
  return name.endsWith(family.model) ? name.slice(0, -family.model.length) + model : model
}

function requestOf(options: Request, one: Case, request: object | string) {
  const { family, path, method = 'POST', key } = one
  const headers: Record<string, string> = {
    ...(options.key !== undefined && { authorization: `Bearer ${options.key}` }),
    ...lowerCase(options.headers),
    ...lowerCase(options.familyHeaders?.[family.name]),
  }
  if (key === 'none') delete headers['authorization']
  if (key === 'wrong') headers['authorization'] = 'Bearer sk-nobody-was-given-this-key'
  const limit = (path ?? chat) === chat && { max_tokens: 200 }
  const body =
    typeof request === 'string' ? request : JSON.stringify({ model: modelOf(options, one), ...limit, ...request })
  return {
    url: `${options.base}${path ?? chat}`,
    init: { method, headers, ...(method === 'POST' && { body }) },
  }
}

const lowerCase = (headers: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** Plays a case and returns what came of it on both sides. */
async function runCase(
  request: Request,
  upstreams: Upstreams,
  one: Case,
): Promise<Passed & { reached: boolean; refusal?: string }> {
  const left = new AbortController()
  let late = false
  const timer = setTimeout(() => {
    late = true
    left.abort()
  }, CASE_MS)
  let received = ''
  let early = ''
  let closed = false
  let reached = false
  let onRead!: () => void
  const current: CurrentCase = {
    family: one.family,
    script: one.script,
    sent: [],
    onRequest() {
      reached = true
      if (one.leaves === 'before the answer') left.abort()
    },
    read: new Promise((resolve) => (onRead = resolve)),
    onReadEnd: () => (early = contentOf(received)),
    onClosed: () => (closed = true),
  }
  upstreams.current = current
  let read = false
  async function ask(body: object | string): Promise<Passed> {
    const { url, init } = requestOf(request, one, body)
    init.headers['content-type'] ??= 'application/json'
    const answer = await send(url, { ...init, signal: left.signal }, (text) => {
      received = text
      if (read || contentOf(text) === '') return
      read = true
      onRead()
      if (one.leaves === 'in the answer') left.abort()
    })
    await upstreams.idle()
    return { ...answer, early, closed, sent: current.sent }
  }
  try {
    let passed = await ask(one.request)
    if (one.next && current.refusal === undefined) passed = await ask(one.next(passed))
    if (late) throw new Error(`the answer: expected an end within ${CASE_MS / 1000} s, got none`)
    return { ...passed, reached, ...(current.refusal !== undefined && { refusal: current.refusal }) }
  } finally {
    clearTimeout(timer)
    upstreams.current = undefined
  }
}

/** Throws if a case fails. */
async function judge(request: Request, upstreams: Upstreams, one: Case): Promise<void> {
  const { family, invalid = false, unsupported = false, key, path } = one
  const { refusal, reached, ...passed } = await runCase(request, upstreams, one)
  const { status, text } = passed
  if (unsupported && !reached && status >= 400 && status < 500) return expectError(passed, '4xx', () => true)
  if (!reached && !invalid && key === undefined && path === undefined) {
    const answered = status === 0 ? `did not answer: ${text}` : `answered ${status}: ${show(text)}`
    throw new Error(`the upstream: expected a request, got none; the gateway ${answered}`)
  }
  if (!invalid && refusal !== undefined) throw new Error(`the upstream: ${family.title} would refuse this: ${refusal}`)
  one.check(passed)
}

async function resultOf(request: Request, upstreams: Upstreams, one: Case): Promise<Result> {
  const about = { suite: one.suite, family: one.family.name, name: one.name, source: one.source }
  try {
    await judge(request, upstreams, one)
    return { ...about, passed: true }
  } catch (error) {
    return { ...about, passed: false, reason: (error as Error).message }
  }
}

/** Asks each family's upstream for a word, and throws if none of them is reached. */
async function tryOut(request: Request, upstreams: Upstreams, families: Family[], port: number): Promise<void> {
  const reasons: string[] = []
  for (const family of families) {
    const attempt: Case = {
      name: 'is reached',
      suite: 'specification',
      family,
      source: '',
      request: { messages: [{ role: 'user', content: 'Hi' }] },
      script: replies(family, { texts: ['Hello'] }),
      check: () => undefined,
    }
    const { passed, reason } = await resultOf(request, upstreams, attempt)
    if (passed) return
    reasons.push(`${family.name}: ${reason}`)
  }
  throw new ConformanceError(
    [
      'No request reached the upstreams.',
      ...reasons,
      `The gateway must send its requests to http://127.0.0.1:${port}/openai/v1, /anthropic and /google/v1beta.`,
    ].join('\n'),
  )
}

/**
 * Starts upstreams of three vendors, sends requests to a gateway in front of them, and judges what each side got.
 * @throws ConformanceError if the gateway cannot be reached, or reaches none of the upstreams, or no case is selected
 * @example const report = await runConformance({ url: 'http://127.0.0.1:8787', key })
 */
export async function runConformance(options: ConformanceOptions): Promise<Report> {
  const { url, only = [], upstreamPort = DEFAULT_UPSTREAM_PORT, onResult } = options
  const chosen = selected(only)
  if (chosen.length === 0) throw new ConformanceError(`No case matches ${only.join(' and ')}`)
  const base = url.replace(/\/+$/, '').replace(/(?<!\/v1)$/, '/v1')
  const request = { ...options, base }
  const upstreams = await startUpstreams(upstreamPort).catch((error: unknown) => {
    throw new ConformanceError(`The upstreams cannot listen on port ${upstreamPort}: ${(error as Error).message}`)
  })
  try {
    await tryOut(request, upstreams, [...new Set(chosen.map(({ family }) => family))], upstreamPort)
    const results: Result[] = []
    for (const one of chosen) {
      const result = await resultOf(request, upstreams, one)
      results.push(result)
      onResult?.(result)
    }
    return { url, results }
  } finally {
    await upstreams.close()
  }
}

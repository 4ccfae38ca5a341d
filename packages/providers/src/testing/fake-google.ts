import type { FakeAnswer, FakeRequest, FakeUpstream } from './fake-upstream.js'
import { fakeUpstream } from './fake-upstream.js'
import { googleRefusal, isGemini3 } from './google-rules.js'
import { sampleJson } from './sample-json.js'

export interface FakeGoogleOptions {
  /** The only credential that is taken; default any. */
  apiKey?: string
  /** Milliseconds before each chunk of a stream; default 0, and all chunks arrive at once. */
  delayMs?: number
  /** Answers a request in place of the fake, such as with a fault; default never. */
  override?: (request: FakeRequest) => FakeAnswer | undefined
}

interface Part {
  text?: string
  thought?: true
  thoughtSignature?: string
  functionCall?: { name: string; args: unknown }
  functionResponse?: { name: string; response: unknown }
}

interface Declaration {
  name: string
  parameters?: unknown
  parametersJsonSchema?: unknown
}

interface ContentBody {
  contents: { role: string; parts: Part[] }[]
  tools?: { functionDeclarations?: Declaration[] }[]
  toolConfig?: { functionCallingConfig?: { mode?: string; allowedFunctionNames?: string[] } }
  generationConfig?: {
    candidateCount?: number
    maxOutputTokens?: number
    responseMimeType?: string
    responseSchema?: unknown
    responseJsonSchema?: unknown
    thinkingConfig?: { includeThoughts?: boolean }
  }
}

interface Generation {
  parts: Part[]
  finish: 'STOP' | 'MAX_TOKENS'
}

const jsonHeaders = { 'content-type': 'application/json; charset=UTF-8' }
const signature = 'c2lnbmF0dXJl'
const thought = 'A simulated thought.'

const errorAnswer = (code: number, status: string, message: string, details?: object[]): FakeAnswer => ({
  status: code,
  headers: jsonHeaders,
  body: JSON.stringify({ error: { code, message, status, details } }),
})

const invalidKey = {
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason: 'API_KEY_INVALID',
  domain: 'googleapis.com',
  metadata: { service: 'generativelanguage.googleapis.com' },
}

const tokens = (text: string): number => Math.ceil(text.length / 4)

const textOf = (parts: Part[] = []): string => parts.flatMap(({ text }) => text ?? []).join(' ')

/** A sample of a JSON Schema or of Google's own Schema, whose types are in upper case. */
const sample = (schema: unknown = {}): unknown =>
  sampleJson(
    JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
      key === 'type' && typeof value === 'string' ? value.toLowerCase() : value,
    ),
  )

/** The tool that the model calls: the one that is forced, or one that the user names; none once there is a result. */
function chosenTool({ tools = [], toolConfig, contents }: ContentBody): Declaration | undefined {
  const { mode = 'AUTO', allowedFunctionNames: allowed } = toolConfig?.functionCallingConfig ?? {}
  const declarations = tools
    .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
    .filter(({ name }) => !allowed || allowed.includes(name))
  const { parts } = contents.at(-1)!
  if (mode === 'ANY' && allowed) return declarations[0]
  if (mode === 'NONE' || parts.some(({ functionResponse }) => functionResponse)) return undefined
  if (mode === 'ANY') return declarations[0]
  const asked = textOf(parts)
  return declarations.find(({ name }) => asked.includes(name))
}

/** What the model says: the same for the same conversation, with tool results and the user's own words in it. */
function generate(model: string, body: ContentBody): Generation {
  const { contents, generationConfig = {} } = body
  const { maxOutputTokens, responseMimeType, responseSchema, responseJsonSchema, thinkingConfig } = generationConfig
  const parts: Part[] = thinkingConfig?.includeThoughts ? [{ text: thought, thought: true }] : []
  const signed = isGemini3(model) ? { thoughtSignature: signature } : {}
  const tool = chosenTool(body)
  if (tool) {
    const args = sample(tool.parametersJsonSchema ?? tool.parameters)
    parts.push({ functionCall: { name: tool.name, args }, ...signed })
    return { parts, finish: 'STOP' }
  }
  const results = contents.at(-1)!.parts.flatMap(({ functionResponse }) => functionResponse ?? [])
  const schema = responseJsonSchema ?? responseSchema
  let text: string
  if (schema !== undefined) text = JSON.stringify(sample(schema))
  else if (responseMimeType === 'application/json') text = '{"simulated":true}'
  else if (results.length > 0)
    text = `The tools answered: ${results.map(({ response }) => JSON.stringify(response)).join(', ')}`
  else text = `This is a simulated answer. You said: ${textOf(contents.findLast(({ role }) => role === 'user')?.parts)}`
  const cut = maxOutputTokens !== undefined && tokens(text) > maxOutputTokens
  parts.push({ text: cut ? text.slice(0, maxOutputTokens * 4) : text, ...signed })
  return { parts, finish: cut ? 'MAX_TOKENS' : 'STOP' }
}

/** Answers of one request: the parts that are new, and the usage of all parts so far. */
function answering(model: string, body: ContentBody) {
  const promptTokenCount = tokens(JSON.stringify(body.contents))
  const thinks = isGemini3(model) || body.generationConfig?.thinkingConfig?.includeThoughts === true
  const thoughtsTokenCount = thinks ? tokens(thought) : 0
  let candidatesTokenCount = 0
  return (candidates: { content: { parts: Part[] } }[]) => {
    for (const { content } of candidates)
      for (const part of content.parts)
        if (!part.thought) candidatesTokenCount += tokens(part.text ?? JSON.stringify(part.functionCall))
    const usageMetadata = {
      promptTokenCount,
      candidatesTokenCount,
      totalTokenCount: promptTokenCount + candidatesTokenCount + thoughtsTokenCount,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: promptTokenCount }],
      ...(thinks && { thoughtsTokenCount }),
    }
    return { candidates, usageMetadata, modelVersion: model, responseId: `simulated${body.contents.length}` }
  }
}

const candidate = (index: number, parts: Part[], finishReason?: string) => ({
  content: { parts, role: 'model' },
  ...(finishReason && { finishReason }),
  index,
})

/** The chunks of a stream as the vendor cuts them: a word each, calls whole; the last one has no words. */
function chunks(model: string, body: ContentBody, generations: Generation[]): object[] {
  const answer = answering(model, body)
  return generations.flatMap(({ parts, finish }, index) => {
    const pieces = parts.flatMap((part): Part[] => {
      if (part.functionCall) return [part]
      const kind = part.thought && { thought: part.thought }
      return (part.text!.match(/\s*\S+\s*$|\s*\S+/g) ?? []).map((text) => ({ text, ...kind }))
    })
    const { text, thoughtSignature } = parts.at(-1)!
    const last: Part = { text: '', ...(text !== undefined && thoughtSignature && { thoughtSignature }) }
    return [...pieces.map((piece) => answer([candidate(index, [piece])])), answer([candidate(index, [last], finish)])]
  })
}

async function* streamed(events: object[], delayMs: number): AsyncGenerator<string> {
  for (const event of events) {
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
    yield `data: ${JSON.stringify(event)}\r\n\r\n`
  }
}

/**
 * An upstream of Google's Gemini API that makes no calls and needs no key.
 * @example google({ apiKey: 'any', transport: fakeGoogle().transport })
 */
export function fakeGoogle(options: FakeGoogleOptions = {}): FakeUpstream {
  const { apiKey, delayMs = 0, override } = options
  return fakeUpstream((request) => {
    const own = override?.(request)
    if (own) return own
    const { pathname, searchParams } = new URL(request.path, 'http://fake')
    const key = request.headers['x-goog-api-key']
    if (searchParams.has('key') || !key || (apiKey !== undefined && key !== apiKey))
      return errorAnswer(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [invalidKey])
    const [, model, method] =
      /\/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent)$/.exec(decodeURIComponent(pathname)) ?? []
    if (request.method !== 'POST' || !model)
      return errorAnswer(404, 'NOT_FOUND', `${request.method} ${pathname} is not found for API version v1beta.`)
    const refusal = googleRefusal(model, request.body)
    if (refusal) return errorAnswer(400, 'INVALID_ARGUMENT', refusal)
    const body = request.body as ContentBody
    const count = body.generationConfig?.candidateCount ?? 1
    const generations = Array.from({ length: count }, () => generate(model, body))
    if (method === 'generateContent') {
      const candidates = generations.map(({ parts, finish }, index) => candidate(index, parts, finish))
      return { status: 200, headers: jsonHeaders, body: JSON.stringify(answering(model, body)(candidates)) }
    }
    const events = chunks(model, body, generations)
    if (searchParams.get('alt') !== 'sse') return { status: 200, headers: jsonHeaders, body: JSON.stringify(events) }
    return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: streamed(events, delayMs) }
  })
}

import { googleRefusal } from '@turnpike/providers/testing'
import type { Asked, Events, Family, Json, Part, Reply, Tool } from './family.js'
import type { Answer, Step } from '../script.js'
import { event, finishOf, joinTurns, usageOf } from './family.js'

interface Body {
  contents: { role?: string; parts: Json[] }[]
  systemInstruction?: { parts: { text?: string }[] }
  tools?: { functionDeclarations?: Json[] }[]
  toolConfig?: { functionCallingConfig?: { mode?: string; allowedFunctionNames?: string[] } }
  generationConfig?: Json
}

const PATH = /\/v1(?:beta)?\/models\/([^/:]+):(generateContent|streamGenerateContent)$/

/** Fields whose content is the caller's own. */
const opaque = new Set([
  'args',
  'response',
  'parameters',
  'parametersJsonSchema',
  'responseSchema',
  'responseJsonSchema',
])

/** A body as the vendor understands it: it takes fields in snake_case as well, and `function` as the role of results. */
function normalised(body: Json): Body & Json {
  const { contents, ...rest } = camelCase(body) as Json
  const list = Array.isArray(contents)
    ? contents.map((content: Json) => (content['role'] === 'function' ? { ...content, role: 'user' } : content))
    : contents
  return { ...rest, ...(list !== undefined && { contents: list }) } as Body & Json
}

function camelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCase)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      return [camel, opaque.has(camel) ? inner : camelCase(inner)]
    }),
  )
}

const partsIn = (content: Body['contents'][number] | undefined): Json[] =>
  Array.isArray(content?.parts) ? content.parts : []

/** A body whose results are named like their calls. Whether the vendor compares the names is not documented: a case judges them. */
function withNames(body: Body & Json): Json {
  if (!Array.isArray(body.contents)) return body
  const contents = body.contents.map((content, i) => {
    const calls = partsIn(body.contents[i - 1]).flatMap((part) =>
      part['functionCall'] ? [part['functionCall'] as Json] : [],
    )
    return {
      ...content,
      parts: partsIn(content).map((part) => {
        const { functionResponse } = part as { functionResponse?: Json }
        const call: Json | undefined = functionResponse && calls.shift()
        return call ? { ...part, functionResponse: { ...functionResponse, name: call['name'] } } : part
      }),
    }
  })
  return { ...body, contents }
}

function partOf(part: Json): Part {
  const { text, inlineData, fileData, functionCall, functionResponse } = part as {
    text?: string
    inlineData?: { mimeType: string; data: string }
    fileData?: { fileUri: string }
    functionCall?: { id?: string; name: string; args?: unknown }
    functionResponse?: { name: string; response: unknown }
  }
  if (text !== undefined) return { text }
  if (inlineData) return { image: { type: inlineData.mimeType, data: inlineData.data } }
  if (fileData) return { image: { url: fileData.fileUri } }
  if (functionCall) return { call: { name: functionCall.name, args: functionCall.args ?? {} } }
  if (functionResponse)
    return { result: { name: functionResponse.name, text: JSON.stringify(functionResponse.response) } }
  return { other: part }
}

function choiceOf({ toolConfig }: Body): Asked['choice'] {
  const { mode, allowedFunctionNames: [name] = [] } = toolConfig?.functionCallingConfig ?? {}
  if (mode?.toUpperCase() === 'ANY') return name === undefined ? 'required' : { name }
  return mode?.toLowerCase() as Asked['choice']
}

function read(body: Body, streams: boolean): Asked {
  const { maxOutputTokens, temperature, topP, stopSequences, candidateCount } = body.generationConfig ?? {}
  return {
    system: (body.systemInstruction?.parts ?? []).map(({ text = '' }) => text).join('\n'),
    turns: joinTurns(
      body.contents.map(({ role, parts }) => ({
        role: role === 'model' ? 'assistant' : 'user',
        parts: parts.map(partOf),
      })),
    ),
    tools: (body.tools ?? [])
      .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
      .map(({ name, description, parameters, parametersJsonSchema }): Tool => ({
        name: name as string,
        description: description as string,
        schema: parameters ?? parametersJsonSchema,
      })),
    choice: choiceOf(body),
    maxTokens: maxOutputTokens,
    temperature,
    topP,
    stop: stopSequences,
    stream: streams,
    n: (candidateCount as number | undefined) ?? 1,
  }
}

const about = { modelVersion: 'gemini-2.5-flash', responseId: 'scripted' }

// Gemini ends an answer with tool calls like any other.
const finishReasons = { stop: 'STOP', length: 'MAX_TOKENS', tool_calls: 'STOP', content_filter: 'SAFETY' }

function usage(reply: Reply): Json {
  const { prompt, completion, cached, reasoning } = usageOf(reply)
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: completion - reasoning,
    totalTokenCount: prompt + completion,
    ...(cached > 0 && { cachedContentTokenCount: cached }),
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
  }
}

function partsOf({ texts = [], calls = [], thinking }: Reply): object[] {
  return [
    ...(thinking === undefined ? [] : [{ text: thinking, thought: true }]),
    ...texts.map((text) => ({ text })),
    ...calls.map(({ name, args }) => ({ functionCall: { name, args } })),
  ]
}

function body(reply: Reply, n: number): Json {
  const candidates = Array.from({ length: n }, (_, index) => ({
    content: { role: 'model', parts: partsOf(reply) },
    finishReason: finishReasons[finishOf(reply)],
    index,
  }))
  return { candidates, usageMetadata: usage(reply), ...about }
}

/** An event of one candidate. */
export const googleEvent = (parts: object[], more: object = {}, usageMetadata?: object): string =>
  event({ candidates: [{ content: { role: 'model', parts }, ...more, index: 0 }], usageMetadata, ...about })

function events(reply: Reply): Events {
  const { prompt } = usageOf(reply)
  return {
    begin: partsOf(reply).map((part) => googleEvent([part], {}, { promptTokenCount: prompt, totalTokenCount: prompt })),
    end: [googleEvent([{ text: '' }], { finishReason: finishReasons[finishOf(reply)] }, usage(reply))],
  }
}

const isEvent = (step: Step): step is string => typeof step === 'string' && step !== ''

/** A stream as it is without `?alt=sse`: a list in JSON, whose elements come one by one. */
function asList(answer: Answer): Answer {
  if (answer.headers?.['content-type'] !== 'text/event-stream') return answer
  const first = answer.steps.findIndex(isEvent)
  const last = answer.steps.findLastIndex(isEvent)
  return {
    ...answer,
    headers: { 'content-type': 'application/json' },
    steps: answer.steps.map((step, i) => {
      if (!isEvent(step)) return step
      const element = step.replace(/^\uFEFF?data: /, '').trimEnd()
      return `${i === first ? '[' : ''}${element}${i === last ? '\n]\n' : '\n,\r\n'}`
    }),
  }
}

const statuses: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
}

const error = (code: number, message: string): Json => ({
  error: { code, message, status: statuses[code] ?? 'UNKNOWN' },
})

const url = (path: string): URL => new URL(path, 'http://upstream')

export const google: Family = {
  name: 'google',
  title: 'Gemini',
  model: 'gemini-2.5-flash',
  path: PATH,
  credential: ({ path, headers }) => headers['x-goog-api-key'] ?? url(path).searchParams.get('key') ?? undefined,
  refusal({ path, body }) {
    const [, model = ''] = PATH.exec(decodeURIComponent(url(path).pathname)) ?? []
    return googleRefusal(model, withNames(normalised(body)))
  },
  read: ({ path, body }) => read(normalised(body), path.includes(':streamGenerateContent')),
  body: (reply, { asked }) => body(reply, asked.n),
  events,
  asAsked: (answer, { asked, path }) =>
    asked.stream && url(path).searchParams.get('alt') !== 'sse' ? asList(answer) : answer,
  error,
  // In the middle of a stream, Gemini sends its errors as a bare body, without `data:`.
  errorEvent: (status, message) => JSON.stringify(error(status, message), null, 2),
  models: { models: [{ name: 'models/gemini-2.5-flash', supportedGenerationMethods: ['generateContent'] }] },
}

import type { Answer, Step } from '../script.js'

export const familyNames = ['openai', 'anthropic', 'google'] as const
/** A vendor's API, and every one that is like it. */
export type FamilyName = (typeof familyNames)[number]

export type Json = Record<string, unknown>

/** The object or array that a text is as JSON; undefined where it is none. */
export function parseJson(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Json) : undefined
  } catch {
    return undefined
  }
}

/** A tool call; `args` is the object of its arguments. */
export interface Call {
  /** Not every vendor gives one. */
  id?: string
  name: string
  args: unknown
}

/** Token counts as OpenAI defines them: cached tokens are part of the prompt, reasoning tokens part of the completion. */
export interface Usage {
  prompt: number
  completion: number
  cached: number
  reasoning: number
}

/** A model's answer, whatever the vendor. */
export interface Reply {
  /** The text in the pieces in which it is streamed; default none. */
  texts?: string[]
  /** Default none. */
  calls?: Call[]
  /** Text of the model's reasoning; OpenAI does not show it. */
  thinking?: string
  /** Default `tool_calls` if there are calls, else `stop`. */
  finish?: 'stop' | 'length' | 'tool_calls' | 'content_filter'
  /** Default 9 tokens of prompt, 4 of completion. */
  usage?: Partial<Usage>
}

export const usageOf = ({ usage }: Reply): Usage => ({ prompt: 9, completion: 4, cached: 0, reasoning: 0, ...usage })

export const finishOf = ({ finish, calls = [] }: Reply): NonNullable<Reply['finish']> =>
  finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')

/** A part of a message as the upstream was sent it. */
export type Part =
  | { text: string }
  /** An image: its type and base64, or its URL. */
  | { image: { type: string; data: string } | { url: string } }
  | { call: Call }
  /** The result of the tool `name`; `text` contains it. */
  | { result: { name: string | undefined; text: string } }
  /** What is none of these. */
  | { other: unknown }

/** Successive messages of one side. */
export interface Turn {
  role: 'user' | 'assistant'
  parts: Part[]
}

export interface Tool {
  name: string
  description: string | undefined
  /** Its parameters as JSON Schema. */
  schema: unknown
}

/** What the upstream was asked, whatever the vendor. */
export interface Asked {
  /** The system prompt, its parts joined by line ends. */
  system: string
  turns: Turn[]
  tools: Tool[]
  choice: 'auto' | 'none' | 'required' | { name: string } | undefined
  maxTokens: unknown
  temperature: unknown
  topP: unknown
  stop: unknown
  stream: boolean
  /** Number of answers. */
  n: number
}

/** A request as it reached the upstream. */
export interface Sent {
  /** Path and query. */
  path: string
  headers: Record<string, string>
  body: Json
  asked: Asked
}

/** A streamed answer: the events up to the last of its content, and those that end it. */
export interface Events {
  begin: string[]
  end: string[]
}

/** A vendor's API: how it answers, and how its requests are read and validated. */
export interface Family {
  name: FamilyName
  title: string
  /** A model for which no rule is special. */
  model: string
  /** Matches the paths of chat requests. */
  path: RegExp
  /** The key in a request; undefined without one. */
  credential(sent: Omit<Sent, 'asked'>): string | undefined
  /** Why the vendor would refuse a request; undefined if it would not. */
  refusal(sent: Omit<Sent, 'asked'>): string | undefined
  read(sent: Omit<Sent, 'asked'>): Asked
  /** The body of an answer that is not streamed. */
  body(reply: Reply, sent: Sent): Json
  events(reply: Reply, sent: Sent): Events
  /** A stream of events in the form that was asked for, where that is another one. */
  asAsked?(answer: Answer, sent: Sent): Answer
  /** The vendor's body of an error. */
  error(status: number, message: string): Json
  /** The same in the middle of a stream. */
  errorEvent(status: number, message: string): Step
  /** Its list of models. */
  models: Json
}

/** A `data:` event; `name` is for the vendors that name them. */
export const event = (data: object, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`

/** Joins successive turns of one role. */
export function joinTurns(turns: Turn[]): Turn[] {
  const joined: Turn[] = []
  for (const { role, parts } of turns) {
    const last = joined.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else joined.push({ role, parts: [...parts] })
  }
  return joined
}

/** Type and base64 of a data URL; the URL itself if it is another one. */
export function imageOf(url: string): Part {
  const [, type, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
  return { image: type !== undefined && data !== undefined ? { type, data } : { url } }
}

/** The pieces in which a stream has the arguments of a call. */
export const fragmentsOf = (text: string): string[] => text.match(/.{1,5}/gs) ?? []

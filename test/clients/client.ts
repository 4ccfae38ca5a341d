import { z } from 'zod'

/** What a scenario asks, whatever the client. */
export interface Ask {
  text: string
  /** A data URL. */
  image?: string
  /** Default `gpt-4o-mini`. */
  model?: string
  system?: string
  temperature?: number
  maxTokens?: number
  tools?: Tool[]
  /** Asks for usage in a stream, where the client leaves a choice; default false. */
  usage?: boolean
}

export interface Tool {
  name: string
  /** Names of its parameters, all of them text. */
  inputs: string[]
  run(input: Record<string, string>): string
}

/** The parameters of a tool. */
export const inputSchema = ({ inputs }: Tool) => z.object(Object.fromEntries(inputs.map((name) => [name, z.string()])))

export interface Tokens {
  prompt: number
  completion: number
  total: number
}

/** What a client made of the answer. */
export interface Answer {
  text: string
  finish: string
  /** Undefined where the client saw none. */
  usage: Tokens | undefined
  model: string
  /** Undefined after a tool round trip, which is several requests. */
  requestId: string | undefined
  /** The pieces of text of a stream. */
  pieces: string[]
}

/** What a client tells of a failed request. */
export interface Failure {
  /** Undefined for an error within a stream. */
  status: number | undefined
  type: string | undefined
  code: string | undefined
  message: string
  requestId: string | undefined
  header(name: string): string | undefined
}

/** How to call. */
export interface Mode {
  stream: boolean
  /** Told of each piece of a stream's text. */
  onText?: (piece: string) => void
}

/** A client that a user of the gateway has, under one face. */
export interface Client {
  ask(ask: Ask, mode: Mode): Promise<Answer>
  /** Asks for an object that fits a schema. */
  extract(ask: Ask, schema: z.ZodType, mode: Mode): Promise<unknown>
}

/** A kind of client. */
export interface ClientKind {
  name: string
  connect(options: { url: string; key: string; maxRetries?: number }): Client
  /** True where the client asks for usage in every stream. */
  alwaysUsage: boolean
  /** True where the client sends tool calls back with what OpenAI's own do not have, such as Gemini's signatures. */
  keepsSignatures: boolean
  /** The class of the error that a status must become. */
  errorClass(status: number): new (...values: never[]) => Error
  /** @throws the error itself where it is none of the client's own */
  describe(error: unknown): Failure
  /** The message of what was thrown in mid-stream. */
  describeBreak(error: unknown): { message: string; code: unknown }
}

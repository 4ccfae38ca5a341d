import { expect } from 'vitest'
import type { Callee, RawReply } from '../support/raw-client.js'
import { chat } from '../support/raw-client.js'
import { claude } from './claude.js'
import { gemini } from './gemini.js'
import { openai } from './openai.js'
import { created } from './wire.js'

/** What the upstreams of a family send, and what the gateway is to make of it. */
export interface Family {
  name: string
  /** The model that clients ask for. */
  model: string
  /** Whether its answers tell when they were made; if not, the gateway does. */
  dated: boolean
  /** A whole answer, not streamed. */
  answer(text: string): string
  answerSeen(text: string): string
  /** A stream of "Hello" and " world": its events up to there, those that say why it ends, and those that say that it is over. */
  hello: { start: string[]; finish: string[]; done: string[]; seen: string; seenEnd: string }
  /** The events of a stream up to its first text. */
  opening(text: string): string[]
  openingSeen(text: string): string
  /** A further text of a stream. */
  text(text: string): string
  textSeen(text: string): string
  /** The body of an HTTP error. */
  refusal(status: number, message: string): string
  /** The same error as an event of a stream. */
  error(status: number, message: string): string
}

export const families = [openai, claude, gemini]

/** All events of the stream of two words. */
export const helloStream = ({ hello: { start, finish, done } }: Family): string[] => [...start, ...finish, ...done]
export const helloSeen = ({ hello: { seen, seenEnd } }: Family): string => seen + seenEnd

/** The reply with the tests' time in place of the gateway's own, which is one and now. */
export function settle({ dated }: Family, reply: RawReply): RawReply {
  if (dated) return reply
  const times = new Set(Array.from(reply.body.matchAll(/"created":(\d+)/g), ([, time]) => Number(time)))
  expect(times.size).toBeLessThanOrEqual(1)
  for (const time of times) expect(Math.abs(Date.now() / 1000 - time)).toBeLessThan(60)
  return { ...reply, body: reply.body.replaceAll(/"created":\d+/g, `"created":${created}`) }
}

/** The reply to a chat request for the family's model. */
export const ask = async (callee: Callee, family: Family, fields: object = {}): Promise<RawReply> =>
  settle(family, await chat(callee, { model: family.model, ...fields }))

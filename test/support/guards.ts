import type { Guard } from '@turnpike/gateway'
import type { TestOptions } from './gateway.js'
import { chunk, completion, streamed, testGateway } from './gateway.js'
import { joinText, parseStream } from './sse.js'

export const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
/** What ends a stream of an upstream. */
export const end = [chunk('', 'stop'), { ...chunk(''), choices: [], usage }, '[DONE]']
/** Asks for a stream with its usage. */
export const wanted = { stream: true, stream_options: { include_usage: true } }

export const hide = (text: string) => text.replaceAll('secret', '******')

/** A gateway with guards, whose upstream answers with {@link completion}. */
export const guardedBy = (guards: Guard[], options: TestOptions = {}) =>
  testGateway({ upstream: () => completion(), ...options, guards })

/** A gateway with guards, whose upstream streams the pieces. */
export const streaming = (guards: Guard[], pieces: Parameters<typeof streamed>, options: TestOptions = {}) =>
  guardedBy(guards, { upstream: () => streamed(...pieces), ...options })

/** How a stream ends: with `done` or the code of an error; whether a choice has finished; its text. */
export function ending(stream: string) {
  const events = parseStream(stream)
  const last = events.at(-1)!
  const choices = events.flatMap((event) => (event.type === 'chunk' ? event.chunk.choices : []))
  const finished = choices.some(({ finish_reason }) => finish_reason)
  return { end: last.type === 'error' ? last.error.code : last.type, finished, text: joinText(events) }
}

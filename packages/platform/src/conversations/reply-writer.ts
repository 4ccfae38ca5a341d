import type { KV } from '@turnpike/core'
import { REPLY_LENGTH, REPLY_PART_LENGTH, REPLY_PART_MS, REPLY_S, WANTED_CHECK_S } from '../conventions.js'
import { givenUp, notFound, stopped, tooLong, tooSlow } from '../errors.js'
import type { Message } from '../schemas.js'
import type { ReplyChunk } from './responder.js'
import type { Part, Writing } from './stored-replies.js'
import { endReply, keepReply, writePart } from './stored-replies.js'
import type * as v from 'valibot'

/** Why a reply ends before its end: the errors that its reader gets. */
const reasons = {
  stopped,
  gone: () => notFound('conversation'),
  lost: () => givenUp('The reply was taken for one whose process has ended'),
  shutdown: () => givenUp('The server is shutting down'),
  late: tooSlow,
}

/** Stores a reply while it is written. */
export interface ReplyWriter {
  /** Aborted when the reply is not to be written any more; it has been stored as far as it came, or is about to be. */
  signal: AbortSignal
  /** Adds a chunk. @throws ApiError 502 where the reply gets too long */
  add(chunk: ReplyChunk): void
  /** Ends the reply before its end; nothing where it has ended. */
  abort(reason: keyof typeof reasons): void
  /** Ends the reply, and resolves when it is stored: whole or as far as it came; nothing where nothing came but an error. */
  end(isWhole: boolean): Promise<void>
}

const lengthOf = ({ text, thinking }: Part): number => text.length + thinking.length

/**
 * Stores a reply in parts as it grows, and asks each second whether it is still wanted: another process may have stopped it, or deleted its
 * conversation.
 */
export function replyWriter(kv: KV, writing: Writing, now: () => number): ReplyWriter {
  const controller = new AbortController()
  const { signal } = controller
  const begun = now()
  let message: v.InferOutput<typeof Message> = writing.reply
  let hasBegun = false
  const whole: Part = { text: '', thinking: '' }
  /** What of it no part has that is written for the last time, and how many of those there are. */
  let rest: Part = { text: '', thinking: '' }
  let parts = 0
  let isStored = true
  let storing: Promise<void> | undefined
  let storeTimer: ReturnType<typeof setTimeout> | undefined
  let askTimer: ReturnType<typeof setTimeout> | undefined
  let ended: Promise<void> | undefined

  const store = async (): Promise<void> => {
    const part = { ...rest }
    isStored = true
    try {
      if (!(await writePart(kv, writing, parts, part))) isStored = false
      else if (lengthOf(part) >= REPLY_PART_LENGTH) {
        parts++
        rest = { text: rest.text.slice(part.text.length), thinking: rest.thinking.slice(part.thinking.length) }
      }
    } catch {
      // The next time, or the end, stores it: that tells what is wrong.
      isStored = false
    }
    storeTimer = undefined
    if (!isStored) storeLater()
  }
  const storeLater = (): void => {
    isStored = false
    if (!ended) storeTimer ??= setTimeout(() => (storing = store()), REPLY_PART_MS)
  }

  const askLater = (): void => {
    if (!ended) askTimer = setTimeout(() => void ask(), WANTED_CHECK_S * 1_000)
  }
  const ask = async (): Promise<void> => {
    const reason = now() - begun > REPLY_S * 1_000 ? 'late' : await keepReply(kv, writing, now()).catch(() => undefined)
    if (reason) abort(reason)
    else askLater()
  }
  askLater()

  let isStopped = false
  const abort: ReplyWriter['abort'] = (reason) => {
    if (ended || signal.aborted) return
    isStopped = reason === 'stopped'
    controller.abort(reasons[reason]())
  }
  const end = async (isWhole: boolean): Promise<void> => {
    clearTimeout(storeTimer)
    clearTimeout(askTimer)
    await storing
    const state = isWhole ? 'done' : isStopped ? 'stopped' : 'failed'
    const { text, thinking } = whole
    const stored = { ...message, text, ...(thinking !== '' && { thinking }), state } as const
    await endReply(kv, writing.reply.id, () => (hasBegun || isWhole || isStopped ? stored : null))
  }
  return {
    signal,
    add({ model, choices: [choice], usage }) {
      hasBegun = true
      const { content, reasoning_content } = choice?.delta ?? {}
      const [text, thinking] = [content ?? '', reasoning_content ?? '']
      if (lengthOf(whole) + text.length + thinking.length > REPLY_LENGTH) throw tooLong('The reply', REPLY_LENGTH)
      for (const part of [whole, rest]) {
        part.text += text
        part.thinking += thinking
      }
      message = {
        ...message,
        ...(model !== undefined && { model }),
        ...(choice?.finish_reason && { finish_reason: choice.finish_reason }),
        ...(usage && { prompt_tokens: usage.prompt_tokens, completion_tokens: usage.completion_tokens }),
        ...(usage?.cost !== undefined && usage.priced !== false && { cost_usd: usage.cost }),
      }
      if (text !== '' || thinking !== '') storeLater()
    },
    abort,
    end: (isWhole) => (ended ??= end(isWhole)),
  }
}

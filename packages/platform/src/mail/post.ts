import { callHook, oneLine } from '@turnpike/core/helpers'
import type { MailText } from './layout.js'
import { messageOf } from './layout.js'
import type { Mailer } from './mailer.js'

/** Characters of a reason that are kept: servers of mail answer with whole paragraphs. */
const REASON_LENGTH = 200

/** Whether a message was sent: `none` where no mail is set up, `pending` until it is known. */
export const MAIL_STATES = ['none', 'pending', 'sent', 'failed'] as const

/** Milliseconds, at least and at most, after which what no answer waits for begins: the answer is out by then. */
const LATER_MS = { least: 50, most: 250 }

/** What became of a message, and why it failed. */
export type Delivery = { mail: (typeof MAIL_STATES)[number]; mail_error?: string }

/** Sends messages to people. */
export interface Post {
  /** Whether there is a mailer. */
  isThere: boolean
  /** Never rejects. */
  send(to: string, text: MailText): Promise<Delivery>
  /** Does something that no answer waits for, a little later, so that its time tells nothing. */
  later(work: () => Promise<void>): void
  /** Resolves when all of that is done; after `ms` in any case. */
  drain(ms: number): Promise<void>
}

/** @param onError told of what fails */
export function post(
  mailer: Mailer | undefined,
  onError: ((error: unknown, context: { mail: string }) => void) | undefined,
): Post {
  const running = new Set<Promise<void>>()
  return {
    isThere: mailer !== undefined,
    async send(to, text) {
      if (!mailer) return { mail: 'none' }
      try {
        await mailer.send(messageOf(to, text))
        return { mail: 'sent' }
      } catch (error) {
        callHook(() => onError?.(error, { mail: text.subject }))
        const reason = error instanceof Error ? error.message : String(error)
        return { mail: 'failed', mail_error: oneLine(reason, REASON_LENGTH) }
      }
    },
    later(work) {
      const wait = LATER_MS.least + Math.random() * (LATER_MS.most - LATER_MS.least)
      const done = new Promise((begin) => setTimeout(begin, wait))
        .then(work)
        .catch((error: unknown) => callHook(() => onError?.(error, { mail: 'in the background' })))
        .finally(() => running.delete(done))
      running.add(done)
    },
    async drain(ms) {
      let timer: ReturnType<typeof setTimeout> | undefined
      const over = new Promise((resolve) => (timer = setTimeout(resolve, ms)))
      await Promise.race([Promise.all(running), over])
      clearTimeout(timer)
    },
  }
}

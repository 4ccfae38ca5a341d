import type { Signal } from '@preact/signals'
import { batch, signal } from '@preact/signals'
import type { Schemas } from '@turnpike/client'
import { turnpike, whenSignedOut } from '../turnpike.js'
import { setUnsent, unsentOf } from './unsent.js'

export type Message = Schemas['Message']
type Chunk = Schemas['ChatChunk']

/** Messages of a page. */
const PER_PAGE = 30

/** Milliseconds between two changes of a reply: tokens come faster than a page with a long text can be laid out. */
const SHOW_MS = 50

/** A reply that is being written. */
export interface Reply {
  /** Undefined until the platform has accepted the request. */
  id: string | undefined
  text: string
}

/** How the last reply ended. */
export interface Outcome {
  /**
   * `whole`; `stopped` by the user or `broken` off after its beginning; `unanswered` = none began, but the message is stored; `unsent` = the
   * message is not stored either.
   */
  kind: 'whole' | 'stopped' | 'broken' | 'unanswered' | 'unsent'
  /** What went wrong, if anything did. */
  error?: unknown
  /** Why the model ended, such as `length`. */
  finish?: string | undefined
}

/** A conversation as the page shows it. It goes on when the page shows something else, until somebody signs out. */
export interface Conversation {
  /** Oldest first; undefined until they have been read. */
  messages: Signal<readonly Message[] | undefined>
  /** The `after` of the messages before those; undefined where there are none. */
  earlier: Signal<string | undefined>
  reply: Signal<Reply | undefined>
  outcome: Signal<Outcome | undefined>
  /** Reads the last messages, unless that is under way. */
  read(): Promise<void>
  readEarlier(): Promise<void>
  /** Sends what was typed, and streams the reply. */
  send(): Promise<void>
  /** Streams another reply to the last message of the user. */
  askAgain(): Promise<void>
  stop(): void
  clear(): Promise<void>
}

/** What is typed as the next message, as a field of unsent.ts. */
export const messageField = (projectId: string): string => `message in ${projectId}`

const stores = new Map<string, Conversation>()

whenSignedOut(() => {
  for (const { stop } of stores.values()) stop()
  stores.clear()
})

/** The conversation of a project. */
export function conversationOf(projectId: string): Conversation {
  const known = stores.get(projectId)
  if (known) return known
  const made = createConversation(projectId)
  stores.set(projectId, made)
  return made
}

function createConversation(projectId: string): Conversation {
  const params = { id: projectId }
  const field = messageField(projectId)
  const messages = signal<readonly Message[] | undefined>(undefined)
  const earlier = signal<string | undefined>(undefined)
  const reply = signal<Reply | undefined>(undefined)
  const outcome = signal<Outcome | undefined>(undefined)
  let controller = new AbortController()

  const begun = (): Reply => reply.value!
  const page = (after?: string) =>
    turnpike.list('/api/projects/{id}/conversation', {
      params,
      query: { limit: PER_PAGE, ...(after !== undefined && { after }) },
    })
  const add = (message: Message): void => {
    messages.value = [...(messages.value ?? []).filter(({ id }) => id !== message.id), message]
  }
  /** Empties the field, unless something else was typed meanwhile. */
  const sent = (text: string | undefined): void => {
    if (unsentOf(field)?.text === text) setUnsent(field, undefined)
  }
  let reading: Promise<void> | undefined
  const read = (): Promise<void> =>
    (reading ??= page()
      .then(({ items, next }) =>
        batch(() => {
          messages.value = items
          earlier.value = next
        }),
      )
      .finally(() => (reading = undefined)))

  /** Streams a reply. @param text the message that it replies to; undefined = the last one of the user */
  const stream = async (text: string | undefined): Promise<void> => {
    if (reply.value) return
    controller = new AbortController()
    const { signal } = controller
    let finish: string | undefined
    let written = ''
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = (): void => {
      timer = undefined
      reply.value = { ...begun(), text: written }
    }
    batch(() => {
      outcome.value = undefined
      reply.value = { id: undefined, text: '' }
    })
    const onResponse = ({ headers }: Response): void => {
      const timestamp = new Date().toISOString()
      batch(() => {
        const id = headers.get('x-message-id')
        sent(text)
        if (id !== null && text !== undefined) add({ id, role: 'user', text, timestamp })
        reply.value = { id: headers.get('x-reply-id') ?? undefined, text: '' }
      })
    }
    const request = (): AsyncIterable<Chunk> => {
      const options = { params, signal, onResponse }
      return text === undefined
        ? turnpike.stream('/api/projects/{id}/conversation/reply', options)
        : turnpike.stream('/api/projects/{id}/conversation/messages', { ...options, body: { text } })
    }
    let failed: { error: unknown } | undefined
    try {
      // What was there before tells whether a request that fails has stored the message; an older answer must not replace what is added.
      await (reading ?? (messages.value ? undefined : read()))
      signal.throwIfAborted()
      for await (const { choices } of request()) {
        const choice = choices[0]
        finish = choice?.finish_reason ?? finish
        if (!choice?.delta.content) continue
        written += choice.delta.content
        timer ??= setTimeout(show, SHOW_MS)
      }
    } catch (error) {
      failed = { error }
    }
    clearTimeout(timer)
    const { id } = begun()
    const kind = !failed
      ? 'whole'
      : id !== undefined
        ? signal.aborted
          ? 'stopped'
          : 'broken'
        : (await isStoredAfterRefusal(text))
          ? 'unanswered'
          : 'unsent'
    batch(() => {
      if (id !== undefined)
        add({
          id,
          role: 'assistant',
          text: written,
          timestamp: new Date().toISOString(),
          ...(kind !== 'whole' && { incomplete: true as const }),
        })
      reply.value = undefined
      outcome.value = { kind, finish, ...(!signal.aborted && failed) }
    })
  }

  /** Reads again what is stored where no reply began. The text stays typed unless it was stored as a new message. */
  const isStoredAfterRefusal = async (text: string | undefined): Promise<boolean> => {
    const before = messages.value
    if (before) await read().catch(() => undefined)
    if (text === undefined) return true
    const known = new Set(before?.map(({ id }) => id))
    const isStored =
      before !== undefined &&
      messages.value!.some((one) => one.role === 'user' && one.text === text && !known.has(one.id))
    if (isStored) sent(text)
    return isStored
  }

  return {
    messages,
    earlier,
    reply,
    outcome,
    read,
    async readEarlier() {
      const { items, next } = await page(earlier.value)
      batch(() => {
        messages.value = [...items, ...(messages.value ?? [])]
        earlier.value = next
      })
    },
    async send() {
      const text = unsentOf(field)?.text ?? ''
      if (text.trim() !== '') await stream(text)
    },
    askAgain: () => stream(undefined),
    stop: () => controller.abort(),
    async clear() {
      await turnpike.delete('/api/projects/{id}/conversation', { params })
      outcome.value = undefined
      await reading?.catch(() => undefined)
      await read()
    },
  }
}

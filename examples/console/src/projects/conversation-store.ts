import { batch, computed, signal } from '@preact/signals'
import { PlatformError } from '@turnpike/client'
import { account, whenSignedOut } from '../turnpike.js'
import { requestsOf } from './conversation-requests.js'
import type { Asked, Conversation, Message, Outcome, Reply } from './conversation-types.js'
import { setUnsent, unsentOf } from './unsent.js'

/** Milliseconds between two changes of a reply: tokens come faster than a page can be laid out, and a long text takes longer. */
const showMs = (length: number): number => Math.min(200, 50 + length / 1_000)

/** Milliseconds after which a reply is read again that is being written, and is not streamed to this page. */
const POLL_MS = 1_000

/** What is typed as the next message, or as a changed one, as a field of unsent.ts. */
export const messageField = (projectId: string, edited: string | undefined): string =>
  `${edited === undefined ? 'message' : 'change'} in ${projectId}`

const stores = new Map<string, Conversation>()
/** Ends what the stores do when nobody is signed in. */
let ending = new AbortController()

whenSignedOut(() => {
  ending.abort()
  ending = new AbortController()
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

const isRunning = ({ state }: Message): boolean => state === 'running'
const isGone = (error: unknown): boolean => error instanceof PlatformError && error.status === 404

function createConversation(projectId: string): Conversation {
  const requests = requestsOf(projectId)
  const { signal: left } = ending
  const messages = signal<readonly Message[] | undefined>(undefined)
  const earlier = signal<string | undefined>(undefined)
  const reply = signal<Reply | undefined>(undefined)
  const outcome = signal<Outcome | undefined>(undefined)
  const edited = signal<string | undefined>(undefined)
  let leaving = new AbortController()

  /** Puts a message in its place, or at the end. */
  const put = (message: Message): void => {
    const all = messages.value ?? []
    messages.value = all.some(({ id }) => id === message.id)
      ? all.map((other) => (other.id === message.id ? message : other))
      : [...all, message]
  }
  /** Empties the field, unless something else was typed meanwhile. */
  const sent = (field: string, text: string | undefined): void => {
    if (unsentOf(field)?.text !== text) return
    setUnsent(field, undefined)
    edited.value = undefined
  }
  let reading: Promise<void> | undefined
  const read = (): Promise<void> =>
    (reading ??= requests
      .page()
      .then(({ items, next }) => {
        batch(() => {
          messages.value = items
          earlier.value = next
        })
        for (const { id } of items.filter(isRunning)) void follow(id)
      })
      .finally(() => (reading = undefined)))

  const followed = new Set<string>()
  /** Reads a reply again until it has ended, unless it is streamed to this page. */
  const follow = async (id: string): Promise<void> => {
    if (followed.has(id) || reply.value?.id === id) return
    followed.add(id)
    try {
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, POLL_MS))
        if (left.aborted) return
        if (document.hidden) continue
        try {
          const message = await requests.message(id)
          if (left.aborted) return
          put(message)
          if (isRunning(message)) continue
          outcome.value = { kind: 'replied' }
          return
        } catch (error) {
          // It did not begin, or the conversation was cleared. Whatever else is wrong may pass.
          if (!isGone(error)) continue
          await read()
          outcome.value = messages.value?.at(-1)?.role === 'user' ? { kind: 'unanswered' } : undefined
          return
        }
      }
    } catch (error) {
      outcome.value = { kind: 'replied', error }
    } finally {
      followed.delete(id)
    }
  }

  /** Streams a reply. @param asked the message that it replies to; undefined = the last one of the user */
  const stream = async (asked?: Asked): Promise<void> => {
    const text = asked?.text
    if (isWriting.value) return
    leaving = new AbortController()
    const signal = AbortSignal.any([leaving.signal, left])
    const field = messageField(projectId, edited.value)
    let model: string | undefined
    let written = ''
    let thinking = ''
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = (): void => {
      timer = undefined
      reply.value = { ...reply.value!, text: written, thinking }
    }
    batch(() => {
      outcome.value = undefined
      reply.value = { id: undefined, text: '', thinking: '' }
    })
    const onResponse = ({ headers }: Response): void => {
      batch(() => {
        const id = headers.get('x-message-id')
        if (text !== undefined) sent(field, text)
        if (id !== null && asked)
          put({ id, role: 'user', user_id: account.value!.id, ...asked, timestamp: new Date().toISOString() })
        reply.value = { ...reply.value!, id: headers.get('x-reply-id') ?? undefined }
      })
    }
    let failed: { error: unknown } | undefined
    try {
      // What was there before tells whether a request that fails has stored the message; an older answer must not replace what is added.
      await (reading ?? (messages.value ? undefined : read()))
      signal.throwIfAborted()
      for await (const chunk of requests.reply(asked, { signal, onResponse })) {
        const { content, reasoning_content } = (chunk.choices[0]?.delta ?? {}) as Record<string, string | undefined>
        model = chunk.model
        if (!content && !reasoning_content) continue
        written += content ?? ''
        thinking += reasoning_content ?? ''
        timer ??= setTimeout(show, showMs(written.length))
      }
    } catch (error) {
      failed = { error }
    }
    clearTimeout(timer)
    const { id } = reply.value!
    const isStored = id !== undefined || (await isStoredAfterRefusal(field, text))
    // The stored one tells how it ended, and what it cost; where only the connection broke, it goes on.
    const stored = id === undefined ? undefined : await requests.message(id).catch(() => undefined)
    if (left.aborted) return
    batch(() => {
      const shown = { role: 'assistant', text: written, timestamp: new Date().toISOString(), model } as const
      const message =
        stored ?? (id === undefined ? undefined : ({ ...shown, id, state: failed ? 'running' : 'done' } as Message))
      if (message) put(message)
      reply.value = undefined
      if (message && isRunning(message)) void follow(message.id)
      if (isWriting.value) return
      const last = messages.value?.at(-1)?.state
      const kind = id !== undefined || last === 'stopped' ? 'replied' : isStored ? 'unanswered' : 'unsent'
      // Where only the connection broke, it may be whole.
      const isFailure = last !== 'stopped' && last !== 'done' && !leaving.signal.aborted
      outcome.value = { kind, ...(isFailure && failed) }
    })
  }

  /** Reads again what is stored where no reply began. The text stays typed unless it was stored as a new message. */
  const isStoredAfterRefusal = async (field: string, text: string | undefined): Promise<boolean> => {
    const before = messages.value
    if (before) await read().catch(() => undefined)
    if (text === undefined) return true
    const known = new Set(before?.map(({ id }) => id))
    const isStored =
      before !== undefined &&
      messages.value!.some((one) => one.role === 'user' && one.text === text && !known.has(one.id))
    if (isStored) sent(field, text)
    return isStored
  }

  const isWriting = computed(() => reply.value !== undefined || (messages.value?.some(isRunning) ?? false))

  return {
    messages,
    earlier,
    reply,
    isWriting,
    outcome,
    edited,
    read,
    async readEarlier() {
      const { items, next } = await requests.page(earlier.value)
      batch(() => {
        messages.value = [...items, ...(messages.value ?? [])]
        earlier.value = next
      })
    },
    async send() {
      const typed = unsentOf(messageField(projectId, edited.value))
      if (!typed || typed.text.trim() === '') return
      const { text, attached = [] } = typed
      await stream({ text, ...(attached.length > 0 && { attachments: [...attached] }) })
    },
    askAgain: () => stream(),
    async stop() {
      const streamed = reply.value
      // A reply that has not begun is known to the platform alone.
      const known = streamed?.id === undefined ? (await requests.page()).items : (messages.value ?? [])
      const ids = new Set([...known.filter(isRunning).map(({ id }) => id), ...(streamed?.id ? [streamed.id] : [])])
      // Nothing is stored of it yet.
      if (ids.size === 0) leaving.abort()
      await Promise.all(
        Array.from(ids, async (messageId) => {
          const stopped = await requests.stop(messageId)
          if (reply.value?.id !== messageId) put(stopped)
        }),
      )
    },
    async clear() {
      await requests.clear()
      outcome.value = undefined
      await reading?.catch(() => undefined)
      await read()
    },
  }
}

import type { Signal } from '@preact/signals'
import { batch, effect, signal } from '@preact/signals'
import type { Schemas } from '@turnpike/client'
import { account, turnpike } from '../turnpike.js'
import { type, typed } from './typed.js'

export type Message = Schemas['Message']

/** Messages of a page. */
const PER_PAGE = 30

/** A reply that is being written. */
export interface Reply {
  /** Undefined until the platform has accepted the request. */
  id: string | undefined
  text: string
}

/** What came of the last reply: why it is not whole, or that it is. */
export interface Outcome {
  kind: 'whole' | 'stopped' | 'failed'
  /** What went wrong, of `failed`. */
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
  /** Reads the last messages. */
  read(): Promise<void>
  readEarlier(): Promise<void>
  /** Sends what was typed, and streams the reply. */
  send(): Promise<void>
  /** Streams another reply to the last message of the user. */
  ask(): Promise<void>
  stop(): void
  clear(): Promise<void>
}

/** What is typed as the next message, as a field of typed.ts. */
export const messageField = (projectId: string): string => `message in ${projectId}`

const stores = new Map<string, Conversation>()

effect(() => {
  if (account.value !== null) return
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
  const read = async (): Promise<void> => {
    const { items, next } = await page()
    batch(() => {
      messages.value = items
      earlier.value = next
    })
  }

  /** Streams a reply. @param text the message that it replies to; undefined = the last one of the user */
  const stream = async (text: string | undefined): Promise<void> => {
    if (reply.value) return
    controller = new AbortController()
    const { signal } = controller
    let finish: string | undefined
    batch(() => {
      outcome.value = undefined
      reply.value = { id: undefined, text: '' }
    })
    const onResponse = ({ headers }: Response): void => {
      const timestamp = new Date().toISOString()
      batch(() => {
        const id = headers.get('x-message-id')
        if (text !== undefined) type(messageField(projectId), undefined)
        if (id !== null && text !== undefined) add({ id, role: 'user', text, timestamp })
        reply.value = { id: headers.get('x-reply-id') ?? undefined, text: '' }
      })
    }
    const options = { params, signal, onResponse }
    const chunks =
      text === undefined
        ? turnpike.stream('/api/projects/{id}/conversation/reply', options)
        : turnpike.stream('/api/projects/{id}/conversation/messages', { ...options, body: { text } })
    let ended: Outcome
    try {
      for await (const { choices } of chunks) {
        const [choice] = choices
        finish = choice?.finish_reason ?? finish
        if (choice?.delta.content) reply.value = { ...begun(), text: begun().text + choice.delta.content }
      }
      ended = { kind: 'whole', finish }
    } catch (error) {
      ended = signal.aborted ? { kind: 'stopped' } : { kind: 'failed', error }
    }
    const { id, text: written } = begun()
    // Where no reply began, the platform may have stored the message all the same.
    if (id === undefined) await readAfterRefusal(text)
    batch(() => {
      if (id !== undefined && (written !== '' || ended.kind !== 'failed'))
        add({
          id,
          role: 'assistant',
          text: written,
          timestamp: new Date().toISOString(),
          ...(ended.kind !== 'whole' && { incomplete: true as const }),
        })
      reply.value = undefined
      outcome.value = ended
    })
  }

  /** Reads again what is stored. The text stays typed unless it was stored as a new message. */
  const readAfterRefusal = async (text: string | undefined): Promise<void> => {
    const before = new Set(messages.value?.map(({ id }) => id))
    await read().catch(() => undefined)
    const last = messages.value?.at(-1)
    if (text !== undefined && last?.role === 'user' && last.text === text && !before.has(last.id))
      type(messageField(projectId), undefined)
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
      const text = typed(messageField(projectId)) ?? ''
      if (text.trim() !== '') await stream(text)
    },
    ask: () => stream(undefined),
    stop: () => controller.abort(),
    async clear() {
      await turnpike.delete('/api/projects/{id}/conversation', { params })
      outcome.value = undefined
      await read()
    },
  }
}

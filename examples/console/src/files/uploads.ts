import { computed, effect, signal } from '@preact/signals'
import { toast } from '@turnpike/ui'
import { turnpike, whenSignedOut } from '../turnpike.js'
import type { UserFile } from './file-drawer.js'

/** A file on its way. */
export interface Upload {
  id: number
  file: File
  /** `storing`: all bytes are sent, and the answer is awaited. */
  state: 'waiting' | 'sending' | 'storing' | 'failed'
  /** Bytes sent. */
  sent: number
  error?: unknown
}

/** How many are sent at a time. */
const PARALLEL = 3

/** The files on their way and those that failed, oldest first. They stay while other pages are shown. */
export const uploads = signal<readonly Upload[]>([])

/** How many uploads have ended, in whatever way: one that failed or was cancelled may have been stored. */
export const ended = signal(0)

/** The files that were uploaded since none was on its way. */
export const uploaded = signal<readonly UserFile[]>([])

/** Takes no file for new any more. */
export const forgetUploaded = (): void => void (uploaded.value = [])

/** Whether a file is on its way. */
const isUploading = computed(() => uploads.value.some(({ state }) => state !== 'failed'))

const running = new Map<number, AbortController>()
let made = 0

function change(id: number, fields: Partial<Upload>): void {
  uploads.value = uploads.value.map((one) => (one.id === id ? { ...one, ...fields } : one))
}

const forget = (id: number): void => void (uploads.value = uploads.value.filter((one) => one.id !== id))

async function send({ id, file }: Upload): Promise<void> {
  const leave = new AbortController()
  running.set(id, leave)
  change(id, { state: 'sending' })
  try {
    const stored = await turnpike.upload(file, {
      signal: leave.signal,
      onProgress: ({ loaded, total = file.size }) =>
        // The form around the file counts too.
        change(id, { sent: Math.min(loaded, file.size), state: loaded < total ? 'sending' : 'storing' }),
    })
    uploaded.value = [...uploaded.value, stored]
    forget(id)
  } catch (error) {
    if (!leave.signal.aborted) change(id, { state: 'failed', error })
  }
  running.delete(id)
  ended.value++
  sendNext()
}

function sendNext(): void {
  for (const one of uploads.value) {
    if (running.size >= PARALLEL) return
    if (one.state === 'waiting') void send(one)
  }
}

/** Uploads files, a few at a time. */
export function upload(files: Iterable<File>): void {
  if (!isUploading.value) forgetUploaded()
  const added = [...files].map((file): Upload => ({ id: ++made, file, state: 'waiting', sent: 0 }))
  uploads.value = [...uploads.value, ...added]
  sendNext()
}

/** Stops an upload, or forgets one that failed. */
export function cancel(id: number): void {
  forget(id)
  running.get(id)?.abort()
}

/** Uploads a file that failed from its beginning. */
export function retry(id: number): void {
  change(id, { state: 'waiting', sent: 0, error: undefined })
  sendNext()
}

whenSignedOut(() => {
  forgetUploaded()
  for (const one of uploads.value) cancel(one.id)
})

const askBeforeLeaving = (event: BeforeUnloadEvent): void => event.preventDefault()
effect(() => {
  if (!isUploading.value) return
  addEventListener('beforeunload', askBeforeLeaving)
  return () => {
    removeEventListener('beforeunload', askBeforeLeaving)
    const [first, ...more] = uploaded.peek()
    if (first)
      toast(more.length === 0 ? `${first.display_name} is uploaded.` : `${more.length + 1} files are uploaded.`)
  }
})

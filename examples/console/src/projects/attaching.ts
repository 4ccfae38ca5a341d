import { signal } from '@preact/signals'
import { attachFault } from '../files/file-kinds.js'
import type { FileInfo } from '../files/thumbnail.js'
import { turnpike, whenSignedOut } from '../turnpike.js'
import { setUnsent, unsentOf } from './unsent.js'

/** Files that a message may have. */
export const MOST_FILES = 10

/** A file that is uploaded to be attached to what is typed in a field, or cannot be. */
export interface Attaching {
  id: number
  field: string
  name: string
  /** How much of it is sent, from 0 to 1. */
  share: number
  fault?: string | undefined
  leave: AbortController
}

/** Those on their way, and those that failed. */
export const attaching = signal<readonly Attaching[]>([])
let made = 0

const change = (id: number, fields: Partial<Attaching>): void =>
  void (attaching.value = attaching.value.map((one) => (one.id === id ? { ...one, ...fields } : one)))

/** Stops an upload, or forgets one that failed. */
export function giveUp({ id, leave }: Attaching): void {
  attaching.value = attaching.value.filter((one) => one.id !== id)
  leave.abort()
}

const attachedTo = (field: string): readonly FileInfo[] => unsentOf(field)?.attached ?? []

/** Attaches a file to what is typed in a field. */
export function attach(field: string, { id, display_name, mime_type, size_bytes }: FileInfo): void {
  const attached = [...attachedTo(field), { id, display_name, mime_type, size_bytes }]
  setUnsent(field, { text: '', ...unsentOf(field), attached })
}

export function detach(field: string, id: string): void {
  const attached = attachedTo(field).filter((file) => file.id !== id)
  setUnsent(field, { text: '', ...unsentOf(field), attached })
}

async function send(one: Attaching, file: File): Promise<void> {
  try {
    const stored = await turnpike.upload(file, {
      signal: one.leave.signal,
      onProgress: ({ loaded }) => change(one.id, { share: Math.min(1, loaded / (file.size || 1)) }),
    })
    giveUp(one)
    attach(one.field, stored)
  } catch (error) {
    change(one.id, { fault: error instanceof TypeError ? 'The server cannot be reached.' : (error as Error).message })
  }
}

/** Uploads files, so that they are among those of the user, and attaches them to what is typed in a field. */
export function attachUploads(field: string, files: Iterable<File>): void {
  for (const file of files) {
    const known = attachedTo(field).length + attaching.value.filter((one) => one.field === field).length
    const fault =
      known >= MOST_FILES
        ? `A message has ${MOST_FILES} files at most.`
        : attachFault({ display_name: file.name, mime_type: file.type, size_bytes: file.size })
    const one = { id: ++made, field, name: file.name, share: 0, fault, leave: new AbortController() }
    attaching.value = [...attaching.value, one]
    if (fault === undefined) void send(one, file)
  }
}

whenSignedOut(() => attaching.value.forEach(giveUp))

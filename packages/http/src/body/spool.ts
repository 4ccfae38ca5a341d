import type { Memory } from '@turnpike/core'
import { concat, uuidv7 } from '@turnpike/core/helpers'
import { FILE_MEMORY } from '../conventions.js'

/** Chunk size for reads from a temporary file, in bytes. */
const CHUNK = 64 * 1024

/** A received file; it can be read repeatedly. */
export interface Spooled {
  /** In bytes. */
  size: number
  /** Reads the file from the start. */
  read(): AsyncIterable<Uint8Array>
  /** Deletes the temporary file, if there is one. */
  dispose(): Promise<void>
}

const inMemoryFile = (chunks: Uint8Array[], size: number): Spooled => ({
  size,
  async *read() {
    if (size > 0) yield concat(chunks, size)
  },
  dispose: async () => undefined,
})

/** Opens a temporary file with mode 0600; undefined if the runtime has no file system. */
async function openTemporary() {
  const builtin = globalThis.process?.getBuiltinModule
  const fs = builtin?.('node:fs/promises')
  const os = builtin?.('node:os')
  if (!fs || !os) return undefined
  const path = `${os.tmpdir()}/turnpike-${uuidv7()}`
  const handle = await fs.open(path, 'wx+', 0o600)
  // Unlinked at once, so that the file is deleted even if the process crashes. Windows cannot unlink open files.
  const linked = await fs.unlink(path).then(
    () => false,
    () => true,
  )
  return {
    handle,
    async dispose() {
      await handle.close()
      if (linked) await fs.unlink(path)
    },
  }
}

/**
 * Receives a file into memory or, above {@link FILE_MEMORY}, into a temporary file. On runtimes without a file system it stays in memory.
 * @param memory what all its bytes are taken from as they arrive, also those in a file: it may be on a disk in memory
 * @throws the error of `tooLarge`, as soon as more than `limit` bytes have arrived, and that of `memory`
 */
export async function spool(
  body: AsyncIterable<Uint8Array>,
  limit: number,
  tooLarge: () => Error,
  memory?: Memory,
): Promise<Spooled> {
  let chunks: Uint8Array[] = []
  let size = 0
  let inMemory = 0
  let file: Awaited<ReturnType<typeof openTemporary>>
  try {
    for await (const chunk of body) {
      size += chunk.length
      if (size > limit) throw tooLarge()
      memory?.take(chunk.length)
      chunks.push(chunk)
      inMemory += chunk.length
      if (inMemory <= FILE_MEMORY) continue
      file ??= await openTemporary()
      if (!file) continue
      await file.handle.writeFile(concat(chunks, inMemory))
      chunks = []
      inMemory = 0
    }
    if (!file) return inMemoryFile(chunks, size)
    await file.handle.writeFile(concat(chunks, inMemory))
  } catch (error) {
    await file?.dispose()
    throw error
  }
  const { handle, dispose } = file
  return {
    size,
    async *read() {
      for (let at = 0; at < size;) {
        const { bytesRead, buffer } = await handle.read(new Uint8Array(CHUNK), 0, CHUNK, at)
        if (bytesRead === 0) throw new Error('A temporary file was truncated')
        at += bytesRead
        yield buffer.subarray(0, bytesRead)
      }
    },
    dispose,
  }
}

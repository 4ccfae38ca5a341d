import { concat, uuidv7 } from '@turnpike/core/internal'

/** Bytes of a file that are kept in memory; larger ones are written to a temporary file. */
const MEMORY = 256 * 1024
/** Bytes of a read from a temporary file. */
const PIECE = 64 * 1024

/** A received file, which can be read more than once. */
export interface Spooled {
  /** In bytes. */
  size: number
  read(): AsyncIterable<Uint8Array>
  /** Frees its memory or temporary file. */
  dispose(): Promise<void>
}

const kept = (pieces: Uint8Array[], size: number): Spooled => ({
  size,
  async *read() {
    if (size > 0) yield concat(pieces, size)
  },
  dispose: async () => undefined,
})

/** Opens a temporary file that only this process can read. Undefined where the runtime has no file system. */
async function openTemporary() {
  const builtin = globalThis.process?.getBuiltinModule
  const fs = builtin?.('node:fs/promises')
  const os = builtin?.('node:os')
  if (!fs || !os) return undefined
  const path = `${os.tmpdir()}/turnpike-${uuidv7()}`
  const handle = await fs.open(path, 'wx+', 0o600)
  // An unlinked file disappears with the process. Windows does not unlink open files.
  const named = await fs.unlink(path).then(
    () => false,
    () => true,
  )
  return {
    handle,
    async dispose() {
      await handle.close()
      if (named) await fs.unlink(path)
    },
  }
}

/**
 * Receives a file: small ones in memory, larger ones in a temporary file, or in memory too where there are no files.
 * @throws what `tooLarge` makes, as soon as there are more than `limit` bytes
 */
export async function spool(body: AsyncIterable<Uint8Array>, limit: number, tooLarge: () => Error): Promise<Spooled> {
  let pieces: Uint8Array[] = []
  let size = 0
  let inMemory = 0
  let file: Awaited<ReturnType<typeof openTemporary>>
  try {
    for await (const piece of body) {
      size += piece.length
      if (size > limit) throw tooLarge()
      pieces.push(piece)
      inMemory += piece.length
      if (inMemory <= MEMORY) continue
      file ??= await openTemporary()
      if (!file) continue
      await file.handle.writeFile(concat(pieces, inMemory))
      pieces = []
      inMemory = 0
    }
    if (!file) return kept(pieces, size)
    await file.handle.writeFile(concat(pieces, inMemory))
  } catch (error) {
    await file?.dispose()
    throw error
  }
  const { handle, dispose } = file
  return {
    size,
    async *read() {
      for (let at = 0; at < size;) {
        const { bytesRead, buffer } = await handle.read(new Uint8Array(PIECE), 0, PIECE, at)
        if (bytesRead === 0) throw new Error('A temporary file is shorter than what was written to it')
        at += bytesRead
        yield buffer.subarray(0, bytesRead)
      }
    },
    dispose,
  }
}

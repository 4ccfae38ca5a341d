/** The durable `KV` of one process in one folder. @module */
import { link, mkdir, open, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { KV, KVLog, LogEntry } from '@turnpike/core'
import { memoryKV, StorageError } from '@turnpike/core'

/** First line of a log: the form of what follows. */
const FORMAT = 'turnpike-log 1'

const checksum = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 16)

/** One group of entries as a line: its checksum, a space, JSON. */
const encode = (entries: LogEntry[]): string => {
  const json = JSON.stringify(entries)
  return `${checksum(json)} ${json}\n`
}

const decode = (line: string): LogEntry[] | undefined => {
  const json = line.slice(17)
  return line[16] === ' ' && line.slice(0, 16) === checksum(json) ? (JSON.parse(json) as LogEntry[]) : undefined
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Entries per line of a rewritten log. */
const LINE = 500

/**
 * An append-only file, one checksummed line per group of commits, flushed to the disk before a commit is acknowledged.
 * A last line that is torn was never acknowledged and is dropped; a bad line before it is refused.
 */
function fileLog(folder: string): KVLog {
  const path = join(folder, 'kv.log')
  let file: FileHandle | undefined
  let length = 0

  const replace = async (entries: Iterable<LogEntry>): Promise<void> => {
    const next = `${path}.next`
    const handle = await open(next, 'w', 0o600)
    try {
      await fill(handle, entries)
      await rename(next, path)
    } catch (cause) {
      await handle.close()
      await rm(next, { force: true })
      throw new StorageError('The log cannot be rewritten', 'none', { cause })
    }
    await syncFolder(folder)
    await file?.close()
    file = handle
    length = (await handle.stat()).size
  }

  const fill = async (handle: FileHandle, entries: Iterable<LogEntry>): Promise<void> => {
    await handle.appendFile(`${FORMAT}\n`)
    let line: LogEntry[] = []
    for (const entry of entries) if (line.push(entry) === LINE) await handle.appendFile(encode(line.splice(0)))
    if (line.length > 0) await handle.appendFile(encode(line))
    await handle.sync()
  }

  return {
    async *load() {
      await rm(`${path}.next`, { force: true })
      const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined
        throw error
      })
      if (text === undefined) {
        await replace([])
        return
      }
      const lines = text.split('\n')
      if (lines[0] !== FORMAT) throw new StorageError(`${path} is not a "${FORMAT}" file`, 'none')
      const torn = lines.pop() !== ''
      length = Buffer.byteLength(text) - (torn ? Buffer.byteLength(text.slice(text.lastIndexOf('\n') + 1)) : 0)
      for (const [i, line] of lines.entries()) {
        if (i === 0) continue
        const entries = decode(line)
        if (!entries) throw new StorageError(`${path} is corrupt in line ${i + 1}; restore it from a backup`, 'none')
        yield* entries
      }
      file = await open(path, 'r+')
      await file.truncate(length)
    },
    async append(entries) {
      const bytes = Buffer.from(encode(entries))
      try {
        let at = 0
        while (at < bytes.length) at += (await file!.write(bytes, at, bytes.length - at, length + at)).bytesWritten
        await file!.datasync()
        length += bytes.length
      } catch (cause) {
        // Only if the half-written line is surely gone may the caller take it for not written.
        try {
          await file!.truncate(length)
          await file!.datasync()
        } catch {
          throw new StorageError('The log cannot be written', 'unknown', { cause })
        }
        throw new StorageError('The log cannot be written', 'none', { cause })
      }
    },
    rewrite: replace,
    async close() {
      await file?.close()
    },
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Folders that this process has open. A lock with our own pid is otherwise a relic: in a container every start has the same one. */
const openFolders = new Set<string>()

/** Takes the folder for this process, or refuses while it is open here or in another process that lives. */
async function lock(folder: string): Promise<() => Promise<void>> {
  const real = await realpath(folder)
  const path = join(real, 'lock')
  const mine = `${path}.${process.pid}`
  const refuse = (pid: number): never => {
    throw new StorageError(
      `${folder} is in use by process ${pid}. A folder serves one process; several need Redis or PostgreSQL`,
      'none',
    )
  }
  if (openFolders.has(real)) refuse(process.pid)
  openFolders.add(real)
  try {
    await writeFile(mine, String(process.pid))
    // A link appears with its content, and only where there is none.
    while (
      !(await link(mine, path).then(
        () => true,
        () => false,
      ))
    ) {
      const found = await readFile(path, 'utf8').catch(() => '')
      const pid = Number(found)
      if (pid > 0 && pid !== process.pid && isAlive(pid)) refuse(pid)
      // Moved away rather than removed: if it is another's new lock by now, it is put back.
      const relic = `${mine}.relic`
      await rename(path, relic).catch(() => undefined)
      if ((await readFile(relic, 'utf8').catch(() => found)) !== found) await link(relic, path).catch(() => undefined)
      await rm(relic, { force: true })
    }
  } catch (error) {
    openFolders.delete(real)
    throw error
  } finally {
    await rm(mine, { force: true })
  }
  return async () => {
    openFolders.delete(real)
    await rm(path, { force: true })
  }
}

/**
 * Opens the store in a folder, and makes the folder if it is missing. A commit is acknowledged once it is on the disk.
 * @throws StorageError where another process has the folder open or its log is corrupt
 * @example const kv = await fsKV('.turnpike')
 */
export async function fsKV(folder: string): Promise<KV> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const unlock = await lock(folder)
  try {
    const kv = await memoryKV({
      log: fileLog(folder),
      capabilities: { writers: 'one-process', durability: 'power-loss', driver: 'fs' },
    })
    return {
      ...kv,
      async close() {
        await kv.close()
        await unlock()
      },
    }
  } catch (error) {
    await unlock()
    throw error
  }
}

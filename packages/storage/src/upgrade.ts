import { createHash } from 'node:crypto'
import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Commit, KV, LogEntry } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { decodeKey, isDelete } from '@turnpike/core/internal'

/** First line of the log that form 1 of a folder was. */
const FORM_1 = 'turnpike-log 1'

const checksum = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 16)

/** What is alive in a log of form 1: one line per group of commits, its checksum and JSON. A torn last line was never acknowledged. */
function readForm1(path: string, text: string): Map<string, LogEntry> {
  const [head, ...lines] = text.split('\n')
  if (head !== FORM_1) throw new StorageError(`${path} is not a "${FORM_1}" file`, 'none')
  const state = new Map<string, LogEntry>()
  for (const [i, line] of lines.slice(0, -1).entries()) {
    const json = line.slice(17)
    if (line.slice(0, 17) !== `${checksum(json)} `)
      throw new StorageError(`${path} is corrupt in line ${i + 2}; restore it from a backup`, 'none')
    for (const entry of JSON.parse(json) as LogEntry[]) {
      if (isDelete(entry)) state.delete(entry.k)
      else state.set(entry.k, entry)
    }
  }
  return state
}

/**
 * Brings a folder of form 1, the file `kv.log`, into the store that is open there. All of it is one commit, so a crash leaves it to
 * the next start; the file is kept as `kv.log.upgraded`.
 */
export async function upgradeFolder(folder: string, kv: KV): Promise<void> {
  const path = join(folder, 'kv.log')
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return
  const done = { key: ['upgraded', 'form-1'], value: true }
  const set: Commit['set'] = [done]
  const sum: Commit['sum'] = []
  for (const { k, j, c, x } of readForm1(path, text).values()) {
    const key = decodeKey(k)
    if (c) sum.push({ key, add: c })
    else set.push({ key, value: JSON.parse(j!), ...(x !== undefined && { expiresAt: x }) })
  }
  // Not applied means that it was, and that only the file is still in its place.
  await kv.commit({ check: [{ key: done.key, version: null }], set, sum })
  await rename(path, `${path}.upgraded`)
}

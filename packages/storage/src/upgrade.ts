import { createHash } from 'node:crypto'
import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Commit, KV, LogEntry } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { decodeKey, isDelete } from '@turnpike/core/internal'

/** The first line of a log of format 1. */
const FORM_1 = 'turnpike-log 1'

const checksum = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 16)

/** The live entries of a log of format 1: a line per group of commits, with a checksum and JSON. A partial last line was never acknowledged. */
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
 * Imports the `kv.log` of a folder of format 1 into the store that is open there. The import is one commit, so after a crash the next
 * start does it again; the file is kept as `kv.log.upgraded`.
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
  // If the check fails, an earlier start has done the import, and only the rename is missing.
  await kv.commit({ check: [{ key: done.key, version: null }], set, sum })
  await rename(path, `${path}.upgraded`)
}

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { durableFs, unstorageBlobs } from '@turnpike/storage'
import { createStorage } from 'unstorage'
import fsDriver from 'unstorage/drivers/fs'
import { expect, it } from 'vitest'
import { sample } from '../support/scope.js'

it.each(sample(['durableFs', 'unstorage fs']))(
  'a writer on %s that is killed leaves complete blobs, and orphans that sweep finds',
  async (driver) => {
    const base = await mkdtemp(join(tmpdir(), 'turnpike-blobs-'))
    const storage = driver === 'durableFs' ? durableFs({ base }) : createStorage({ driver: fsDriver({ base }) })
    const blobs = unstorageBlobs(storage, { chunkBytes: 65_536 })
    const script = fileURLToPath(new URL('blob-writer.mjs', import.meta.url))
    /** By key: the digests that it may have. */
    const allowed = new Map<string, string[]>()
    let done = 0
    let orphans = 0
    try {
      for (let round = 0; round < 6; round++) {
        const writer = spawn(process.execPath, [script, driver, base, String(round)], {
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        let log = ''
        writer.stdout.on('data', (data) => (log += String(data)))
        while (!log.includes('done')) await once(writer.stdout, 'data')
        await sleep(37 * round)
        writer.kill('SIGKILL')
        await once(writer, 'close')
        for (const line of log.split('\n').slice(0, -1)) {
          const [what, key, digest] = line.split(' ') as [string, string, string]
          if (what === 'begin') allowed.set(key, [...(allowed.get(key) ?? ['none']), digest])
          else allowed.set(key, [digest])
          if (what === 'done') done++
        }
        let live = 0
        for (const [key, digests] of allowed) {
          const blob = await blobs.get(key)
          const hash = createHash('sha256')
          for await (const piece of blob?.body ?? []) hash.update(piece)
          expect(digests).toContain(blob ? hash.digest('hex') : 'none')
          live += Math.ceil((blob?.size ?? 0) / 65_536)
        }
        expect(await blobs.sweep()).toBe(0)
        orphans += await blobs.sweep(0)
        const keys = await storage.getKeys('', {})
        expect(keys.filter((key) => key.includes('chunk:'))).toHaveLength(live)
      }
      expect(done).toBeGreaterThanOrEqual(6)
      expect(orphans).toBeGreaterThan(0)
    } finally {
      await rm(base, { recursive: true })
    }
  },
)

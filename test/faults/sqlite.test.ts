import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sqliteKV } from '@turnpike/storage/sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { needs, nodeSqlite } from '../support/needs.js'
import { runtimePath } from '../support/runtime.js'
import { assertKept } from './sql-journal.js'

const folder = mkdtempSync(join(tmpdir(), 'turnpike-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('sqliteKV under faults', needs(nodeSqlite), () => {
  it.each(['power-loss', 'process-crash'])('keeps acknowledged commits when it is killed (%s)', async (durability) => {
    const file = join(folder, `${durability}.db`)
    const script = fileURLToPath(new URL('sqlite-writer.mjs', import.meta.url))
    const acknowledged = new Set<string>()
    for (let round = 0; round < 5; round++) {
      // Two at a time, of which one is killed first.
      const writers = ['a', 'b'].map((name) => {
        const child = spawn(runtimePath(), [script, file, durability, `${name}${round}`], {
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        let output = ''
        child.stdout.on('data', (data: Buffer) => (output += data.toString()))
        return { child, closed: once(child, 'close'), output: () => output }
      })
      while (writers.some(({ output }) => !output().includes('\n'))) await sleep(5)
      for (const { child, closed, output } of writers) {
        await sleep(20 + Math.random() * 100)
        child.kill('SIGKILL')
        await closed
        // The last line may be torn.
        for (const id of output().split('\n').slice(0, -1)) acknowledged.add(id)
      }
      const kv = await sqliteKV(file)
      await assertKept(kv, 'killed', acknowledged)
      await kv.close()
    }
    expect(acknowledged.size).toBeGreaterThan(10)
  })
})

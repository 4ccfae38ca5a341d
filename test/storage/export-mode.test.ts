import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { runtimePath } from '../support/runtime.js'
import { startServer } from '../support/server.js'

it('an export is for its owner alone, also where an earlier one was not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-export-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const STORAGE = `fs:${folder}/store`
  await (await startServer({ STORAGE, FILES: 'memory' })).stop()
  const cli = fileURLToPath(new URL('../../examples/server/dist/storage.js', import.meta.url))
  const [made, old] = [join(folder, 'new'), join(folder, 'old')]
  writeFileSync(old, 'x'.repeat(1_000_000), { mode: 0o644 })
  for (const file of [made, old]) {
    execFileSync(runtimePath(), [cli, 'export', STORAGE, file], { stdio: 'ignore' })
    expect(statSync(file).mode & 0o777).toBe(0o600)
  }
  expect(readFileSync(old, 'utf8')).toBe(readFileSync(made, 'utf8'))
})

import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { needs, nodeSqlite } from '../support/needs.js'
import { runtime, runtimePath } from '../support/runtime.js'
import { startServer } from '../support/server.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnpike-modes-'))
  // What mkdtemp would protect by itself.
  chmodSync(folder, 0o755)
})
afterEach(() => rmSync(folder, { recursive: true }))

/** What there is below the folder that others than its owner may read or write. */
const open = (): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => (statSync(join(folder, name)).mode & 0o077) > 0,
  )

/** Serves a few requests that store something. @returns what the server printed */
async function serve(env: Record<string, string>): Promise<string> {
  const server = await startServer(env)
  try {
    const authorization = `Bearer ${server.key}`
    const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] })
    const headers = { authorization, 'content-type': 'application/json' }
    expect((await fetch(`${server.url}/v1/chat/completions`, { method: 'POST', headers, body })).status).toBe(200)
    expect(readdirSync(folder).length).toBeGreaterThan(0)
    expect(open()).toEqual([])
    return server.output()
  } finally {
    await server.stop()
  }
}

describe(`threat 50: others on the same machine, on ${runtime}`, () => {
  it('can read nothing of a folder, nor of what is exported from it', async () => {
    await serve({ STORAGE: `fs:${folder}/store`, FILES: `fs:${folder}/files` })
    const cli = fileURLToPath(new URL('../../examples/server/dist/storage.js', import.meta.url))
    execFileSync(runtimePath(), [cli, 'export', `fs:${folder}/store`, join(folder, 'backup')], { stdio: 'ignore' })
    expect(statSync(join(folder, 'backup')).size).toBeGreaterThan(0)
    expect(open()).toEqual([])
  })

  describe('with SQLite', runtime === 'bun' ? {} : needs(nodeSqlite), () => {
    it('can read nothing of a new file, and a start tells of an old one that they can read', async () => {
      const STORAGE = `sqlite:${folder}/kv.db`
      expect(await serve({ STORAGE })).not.toContain('chmod')
      chmodSync(join(folder, 'kv.db'), 0o644)
      const server = await startServer({ STORAGE })
      await server.stop()
      expect(server.output()).toContain(`chmod o-rwx ${folder}/kv.db*`)
      expect(statSync(join(folder, 'kv.db')).mode & 0o777).toBe(0o644)
    })
  })
})

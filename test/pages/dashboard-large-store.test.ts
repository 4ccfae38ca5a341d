import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fsKV } from '@turnpike/storage'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBrowser } from '../support/browser.js'
import { needs, programs } from '../support/needs.js'
import type { DashboardServer } from './dashboard.js'
import { openDashboard, startDashboard } from './dashboard.js'
import { looks, visit } from './visitor.js'

/** From which the store warns. */
const ENTRIES = 250_000

describe('a server with a large folder store', () => {
  let folder: string
  let server: DashboardServer
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'turnpike-large-'))
    const kv = await fsKV(folder)
    for (let n = 0; n < ENTRIES; n += 10_000)
      await kv.commit({ set: Array.from({ length: 10_000 }, (_, i) => ({ key: ['many', String(n + i)], value: 1 })) })
    await kv.close()
    server = await startDashboard({ STORAGE: `fs:${folder}`, FILES: 'memory' })
  })
  afterAll(async () => {
    await server.stop()
    await rm(folder, { recursive: true })
  })
  const words = ['at least 250,000 entries', 'SQLite or PostgreSQL', 'npm run storage']

  it('says once at the start where to move it, and how', () => {
    for (const text of words) expect(server.output().split(text)).toHaveLength(2)
  })

  it('says so on the overview of the dashboard', needs(programs.chromium), async () => {
    const browser = await startBrowser()
    const { page, inspect } = await visit(browser, server.url, looks[0]!)
    await openDashboard(page, server.url)
    const notice = page.getByRole('status').filter({ hasText: words[0]! })
    await notice.waitFor()
    for (const text of words) expect(await notice.textContent()).toContain(text)
    await inspect('admin-large-store')
    await browser.close()
  })
})

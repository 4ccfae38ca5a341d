import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ItemResult } from '@turnpike/conformance'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { needs, testAll } from '../support/needs.js'
import { runtime } from '../support/runtime.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

const cli = fileURLToPath(new URL('../../packages/conformance/dist/cli.js', import.meta.url))
const EMAIL = 'ada@example.org'
const PASSWORD = 'the password of the tests'

/** Runs `turnpike-conformance URL --platform`. */
async function check(url: string) {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-conformance-'))
  const report = join(folder, 'report.json')
  const words = [cli, url, '--platform', '--email', EMAIL, '--json', report]
  const { code, output } = await new Promise<{ code: unknown; output: string }>((resolve) =>
    execFile(process.execPath, words, { env: { PASSWORD } }, (error, output) =>
      resolve({ code: error?.code ?? 0, output }),
    ),
  )
  const { results } = JSON.parse(readFileSync(report, 'utf8')) as { results: ItemResult[] }
  rmSync(folder, { recursive: true })
  const numbers = (outcome: ItemResult['outcome']) =>
    results.filter((item) => item.outcome === outcome).map(({ number }) => number)
  return { code, output, failed: numbers('failed'), passed: numbers('passed'), results }
}

/** A platform that is like another one, but its header X-Request-ID has another name, and its 404 is a 403. */
async function wrongPlatform(url: string) {
  const to = new URL(url)
  const proxy = createServer((client) => {
    const server = connect(Number(to.port), to.hostname)
    client.pipe(server)
    server.on('data', (bytes) => {
      const text = bytes
        .toString('latin1')
        .replaceAll('x-request-id', 'x-request-no')
        .replaceAll('HTTP/1.1 404', 'HTTP/1.1 403')
      client.write(text, 'latin1')
    })
    server.on('end', () => client.end())
    for (const socket of [client, server]) socket.on('error', () => [client, server].forEach((one) => one.destroy()))
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, close: () => proxy.close() }
}

describe('turnpike-conformance --platform', needs(testAll), () => {
  let server: Server
  beforeAll(async () => {
    server = await startServer({ ADMIN_EMAIL: EMAIL })
  })
  afterAll(() => server.stop())

  it('passes with the reference server', { timeout: 300_000 }, async () => {
    const { code, output, results, failed, passed } = await check(server.url)
    // Bun leaves out the Content-Length of streams, and takes a malformed Host; test/platform excuses both there.
    const ofBun = runtime === 'bun' ? [13, 185, 190] : []
    const ours = results.filter(({ outcome, number }) => outcome === 'failed' && !ofBun.includes(number))
    expect(ours).toEqual([])
    expect([code, failed.toSorted((a, b) => a - b)]).toEqual([ofBun.length > 0 ? 1 : 0, ofBun])
    expect(passed.length).toBeGreaterThanOrEqual(160)
    // Each item has a result, and those that were not tried say why.
    expect([...new Set(results.map(({ number }) => number))]).toHaveLength(190)
    expect(results.filter(({ outcome, reason }) => (outcome === 'passed') !== (reason === undefined))).toEqual([])
    expect(output).toMatch(/^\| all +\| 16\d/m)
  })

  it('fails with a platform that is wrong', { timeout: 300_000 }, async () => {
    const wrong = await wrongPlatform(server.url)
    const { code, failed, output } = await check(wrong.url)
    wrong.close()
    // X-Request-ID; projects, tasks and files that are not there.
    expect(failed).toEqual(expect.arrayContaining([2, 51, 83, 107]))
    expect(failed.length).toBeGreaterThan(20)
    expect(code).toBe(1)
    expect(output).toContain('- #51 ')
  })
})

/**
 * The dashboard in Chromium: `npm run bench:dashboard [-- --check] [--records 1000000] [--seconds 300]`. It fills a store with usage records, prints
 * how long each page takes to its first data, and then follows live requests on the page Requests: its longest task, nodes and heap.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { runnerImport } from 'vite'
import { createUser, gatewayKeys, usageLedger } from '../../packages/core/dist/index.js'
import { openStorage } from 'turnpike'
import { chatBytes, connect } from './client.mjs'

const { values: flags } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    records: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '300' },
    rate: { type: 'string', default: '1000' },
  },
})

const TOKEN = 'token-of-administrators'
const KEY = 'gw-dashboard-bench-key-0123456789'
const [USERS, KEYS, MODELS, SESSIONS, DAYS] = [200, 300, 30, 2_000, 30]
const BATCH = 1_280

const folder = mkdtempSync(join(tmpdir(), 'turnpike-dashboard-'))
const failures = []
const hold = (what, value, most, unit) => {
  const ok = value <= most
  if (!ok) failures.push(what)
  console.log(`${ok ? 'ok   ' : 'FAIL '} ${what}: ${value.toFixed(0)} ${unit} (at most ${most})`)
}
const { usageRecord } = (await runnerImport(fileURLToPath(new URL('../support/usage-record.ts', import.meta.url))))
  .module
const pick = (list, i) => list[i % list.length]

/** Stores usage records of the last days. */
async function fill(count) {
  const { kv } = await openStorage(`fs:${folder}`)
  const users = []
  for (let i = 0; i < USERS; i++) users.push((await createUser(kv, { name: `User ${i}` })).id)
  const keys = []
  for (let i = 0; i < KEYS; i++) {
    const user = pick(users, i)
    keys.push({ user, id: (await gatewayKeys(kv).create(user, { name: `Key ${i}` })).id })
  }
  const ledger = usageLedger(kv)
  const now = Date.now()
  const started = performance.now()
  for (let done = 0; done < count; done += BATCH) {
    const records = Array.from({ length: Math.min(BATCH, count - done) }, (_, i) => {
      // Those that are stored together are of a few keys, as in life.
      const few = Math.floor((done + i) / 16)
      const { user, id } = pick(keys, few)
      return ledger.append(
        usageRecord({
          request_id: `r${done + i}`,
          user_id: user,
          key_id: id,
          session_id: `session-${few % SESSIONS}`,
          in_session: true,
          model: `model-${few % MODELS}`,
          provider: pick(['openai', 'anthropic', 'google'], done + i),
          latency_ms: 200 + ((done + i) % 900),
          first_token_ms: 80,
          timestamp: new Date(now - ((done + i) / count) * DAYS * 86_400_000).toISOString(),
        }),
      )
    })
    await Promise.all(records)
  }
  await kv.close()
  console.log(`${count} records in ${((performance.now() - started) / 1_000).toFixed(0)} s`)
}

async function startServer() {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('../../examples/server/dist/node.js', import.meta.url))],
    {
      env: {
        PATH: process.env.PATH,
        PORT: '0',
        STORAGE: `fs:${folder}`,
        FILES: 'memory',
        ADMIN_TOKEN: TOKEN,
        BOOTSTRAP_GATEWAY_KEY: KEY,
        BOOTSTRAP_GATEWAY_RATE_LIMIT: '1000000000',
        LOG: 'silent',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /listening on (\S+)/.exec(line)?.[1]
    if (url) return { url, child }
  }
  throw new Error('The server did not start')
}

/** Sends chats at a steady rate until `signal` is aborted. @returns how many were answered */
async function send(url, rate, signal) {
  const { port } = new URL(url)
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello!' }] })
  const bytes = chatBytes({ port, headers: { authorization: `Bearer ${KEY}` } }, body)
  const free = Array.from({ length: 32 }, () => connect(port))
  const started = performance.now()
  let sent = 0
  let answered = 0
  while (!signal.aborted) {
    const due = ((performance.now() - started) / 1_000) * rate
    while (sent < due && free.length > 0) {
      const connection = free.pop()
      sent++
      void connection.send(bytes).then(() => {
        answered++
        free.push(connection)
      })
    }
    await sleep(5)
  }
  for (const connection of free) connection.close()
  return answered
}

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
let server
try {
  await fill(Number(flags.records))
  server = await startServer()
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage()
  await page.addInitScript(`
    sessionStorage.setItem('token', '${TOKEN}')
    globalThis.longest = 0
    new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) longest = Math.max(longest, duration) }).observe({ type: 'longtask' })
  `)

  const pages = {
    Overview: ['/', 'dd.value'],
    'Usage by user': ['/usage?by=user', 'tbody tr'],
    'Usage by key': ['/usage?by=key', 'tbody tr'],
    'Usage by model': ['/usage?by=model', 'tbody tr'],
    'Usage by session': ['/usage?by=session', 'tbody tr'],
    'Usage by user, 30 days': ['/usage?by=user&hours=720', 'tbody tr'],
    Providers: ['/providers', 'tbody tr'],
    Pricing: ['/pricing', 'tbody tr'],
    Keys: ['/keys', 'tbody tr'],
  }
  for (const [name, [path, shown]] of Object.entries(pages)) {
    await page.goto('about:blank')
    const started = performance.now()
    await page.goto(`${server.url}/admin#${path}`)
    await page.locator(shown).first().waitFor()
    hold(`${name}, first data`, performance.now() - started, 1_000, 'ms')
    hold(`${name}, longest task`, await page.evaluate('longest'), 200, 'ms')
  }

  await page.goto('about:blank')
  await page.goto(`${server.url}/admin#/requests`)
  const stop = new AbortController()
  const sending = send(server.url, Number(flags.rate), stop.signal)
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Performance.enable')
  const metrics = async () => {
    await devtools.send('HeapProfiler.collectGarbage')
    const { metrics } = await devtools.send('Performance.getMetrics')
    return Object.fromEntries(metrics.map(({ name, value }) => [name, value]))
  }
  await sleep(10_000)
  const before = await metrics()
  const started = performance.now()
  await sleep(Number(flags.seconds) * 1_000)
  const after = await metrics()
  const seconds = (performance.now() - started) / 1_000
  stop.abort()
  const answered = await sending
  console.log(
    `${(answered / (seconds + 10)).toFixed(0)} requests/s for ${seconds.toFixed(0)} s; ${await page.locator('h2').first().textContent()}`,
  )
  hold('Requests, longest task', await page.evaluate('longest'), 200, 'ms')
  hold('Requests, nodes', after.Nodes, 2_000, '')
  hold('Requests, growth of the heap', (after.JSHeapUsedSize - before.JSHeapUsedSize) / 1e6, 20, 'MB')
} finally {
  await browser.close()
  server?.child.kill()
  rmSync(folder, { recursive: true, force: true })
}
if (flags.check && failures.length > 0) process.exit(1)

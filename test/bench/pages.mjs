/**
 * The pages in Chromium: `npm run bench:pages [-- --check] [--records 1000000] [--tasks 10000] [--seconds 300]`. It fills a store with usage records
 * and a project with tasks, prints how long each page of the dashboard takes to its first data, the longest task and the largest layout shift of
 * each page, also of a board and a conversation, and then follows live requests on the page Requests: its longest task, nodes and heap.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { runnerImport } from 'vite'
import { createUser, gatewayKeys, usageLedger } from '../../packages/core/dist/index.js'
import { createClient } from '@turnpike/client'
import { openStorage } from 'turnpike'
import { chatBytes, connect } from './client.mjs'

const { values: flags } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    records: { type: 'string', default: '1000000' },
    tasks: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '300' },
    rate: { type: 'string', default: '1000' },
  },
})

const TOKEN = 'token-of-administrators'
const KEY = 'gw-pages-bench-key-0123456789'
const ADMIN = { email: 'ada@example.org', password: 'the password of the bench' }
/** Bytes of an answer that is streamed, and in how many events; one is sent every 2 ms. */
const [ANSWER, EVENTS] = [200_000, 2_000]
/** Milliseconds; and what web vitals score. */
const [LONGEST_TASK, LARGEST_SHIFT] = [100, 0.05]
const WIDTHS = [1440, 1024, 390]
const [USERS, KEYS, MODELS, SESSIONS, DAYS] = [200, 300, 30, 2_000, 30]
const BATCH = 1_280

const folder = mkdtempSync(join(tmpdir(), 'turnpike-pages-'))
const failures = []
const hold = (what, value, most, unit) => {
  const ok = value <= most
  if (!ok) failures.push(what)
  console.log(`${ok ? 'ok   ' : 'FAIL '} ${what}: ${value.toFixed(most < 1 ? 3 : 0)} ${unit} (at most ${most})`)
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

/** An OpenAI-style upstream, whose streams are long Markdown. */
async function startUpstream() {
  const prose =
    'The toll of a **model** is paid once, by whoever asks, and [recorded](https://example.org) before the answer ends. '
  const rows = '| gpt-4o-mini | 120 | $0.15 |\n'.repeat(4)
  const words = `## Part\n\n${prose.repeat(4)}\n\n- ${prose}\n- ${prose}\n\n| model | requests | cost |\n|---|---|---|\n${rows}\n\`\`\`ts\n${'const toll = await gate.pay(1)\n'.repeat(4)}\`\`\`\n\n`
  const text = words.repeat(Math.ceil(ANSWER / words.length))
  const [head, usage] = [
    { id: 'chatcmpl-1', created: 1, model: 'gpt-4o-mini' },
    { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 },
  ]
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    if (request.method !== 'POST')
      return response.end(JSON.stringify({ object: 'list', data: [{ id: 'gpt-4o-mini' }, { id: 'gpt-4o' }] }))
    if (!JSON.parse(body).stream) {
      const message = { role: 'assistant', content: 'Hello!' }
      const answer = {
        ...head,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage,
      }
      return response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
    }
    response.setHeader('content-type', 'text/event-stream')
    const say = (delta, more = {}) =>
      response.write(
        `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`,
      )
    for (let i = 0; i < EVENTS && !response.destroyed; i++) {
      say({ content: text.slice((i * text.length) / EVENTS, ((i + 1) * text.length) / EVENTS) })
      await sleep(2)
    }
    say({ content: '\n\nThe last word.' })
    say({}, { finish_reason: 'stop' })
    response.end(
      `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage })}\n\ndata: [DONE]\n\n`,
    )
  })
  await new Promise((listens) => server.listen(0, '127.0.0.1', listens))
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    close: () => server.closeAllConnections() ?? server.close(),
  }
}

async function startServer(upstream) {
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
        API_RATE_LIMIT: '1000000',
        API_ADDRESS_RATE_LIMIT: '1000000',
        ADMIN_EMAIL: ADMIN.email,
        ADMIN_PASSWORD: ADMIN.password,
        OPENAI_API_KEY: 'sk-bench',
        OPENAI_BASE_URL: upstream,
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

/** Makes a project with tasks. @returns its id */
async function makeProject(url, count) {
  const client = createClient({ baseUrl: url })
  await client.signIn(ADMIN)
  const { id } = await client.post('/api/projects', { body: { name: 'Bench', teamType: 'content-creation' } })
  const left = Array.from({ length: count }, (_, i) => i)
  const make = async () => {
    for (let i = left.pop(); i !== undefined; i = left.pop())
      await client.post('/api/tasks', { body: { projectId: id, title: `Task ${i}`, assignedAgentId: 1 + (i % 3) } })
  }
  await Promise.all(Array.from({ length: 16 }, make))
  return id
}

/** Notes the longest task of a page, and the largest shift that no input caused. */
const WATCH = `
  globalThis.longest = 0
  globalThis.shift = 0
  new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) longest = Math.max(longest, duration) }).observe({ type: 'longtask' })
  new PerformanceObserver((list) => { for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shift = Math.max(shift, value) }).observe({ type: 'layout-shift' })
`
async function holdStill(page, name) {
  hold(`${name}, longest task`, await page.evaluate('longest'), LONGEST_TASK, 'ms')
  hold(`${name}, largest layout shift`, await page.evaluate('shift'), LARGEST_SHIFT, '')
  await page.evaluate('longest = shift = 0')
}

/** A project's board with many tasks, and the conversation of another one while a long answer is streamed, in a window of a width. */
async function useConsole(url, project, width) {
  const context = await browser.newContext({ viewport: { width, height: 800 } })
  const page = await context.newPage()
  await page.addInitScript(WATCH)
  await page.goto(`${url}/console#/projects`)
  await page.getByLabel('E-mail').fill(ADMIN.email)
  await page.getByLabel('Password').fill(ADMIN.password)
  await page.getByLabel('Password').press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor()
  await page.getByRole('link', { name: 'Bench' }).first().waitFor()
  await sleep(1_000)
  await holdStill(page, `Sign-in and projects, ${width} px`)
  await page.goto(`${url}/console#/projects/${project}`)
  const card = page.locator('.card').first()
  await card.waitFor()
  // All pages of the list, and a few polls.
  await sleep(10_000)
  await card.hover()
  for (let i = 0; i < 20; i++) await page.mouse.wheel(0, 1_500)
  await sleep(1_000)
  await holdStill(page, `Board of ${flags.tasks} tasks, ${width} px`)
  await page.getByRole('button', { name: 'List' }).click()
  await page.getByRole('rowheader').first().waitFor()
  await sleep(2_000)
  await holdStill(page, `List of ${flags.tasks} tasks, ${width} px`)
  await page.goto(`${url}/console#/projects/${await makeProject(url, 0)}/conversation`)
  await page.getByRole('textbox', { name: 'Message' }).fill('Tell me everything.')
  await page.getByRole('textbox', { name: 'Message' }).press('Enter')
  await page.getByText('The last word.').last().waitFor({ timeout: 60_000 })
  await sleep(1_000)
  await holdStill(page, `Conversation with an answer of ${ANSWER / 1_000} kB, ${width} px`)
  await context.close()
}

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
const upstream = await startUpstream()
let server
try {
  await fill(Number(flags.records))
  server = await startServer(upstream.url)
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage()
  await page.addInitScript(`sessionStorage.setItem('token', '${TOKEN}');${WATCH}`)

  const pages = {
    Overview: ['/', 'dd.value'],
    'Usage by user': ['/usage?by=user', 'tbody tr:visible'],
    'Usage by key': ['/usage?by=key', 'tbody tr:visible'],
    'Usage by model': ['/usage?by=model', 'tbody tr:visible'],
    'Usage by session': ['/usage?by=session', 'tbody tr:visible'],
    'Usage by user, 30 days': ['/usage?by=user&hours=720', 'tbody tr:visible'],
    Providers: ['/providers', 'tbody tr:visible'],
    Pricing: ['/pricing', 'tbody tr:visible'],
    Keys: ['/keys', 'tbody tr:visible'],
  }
  for (const [name, [path, shown]] of Object.entries(pages)) {
    await page.goto('about:blank')
    const started = performance.now()
    await page.goto(`${server.url}/admin#${path}`)
    await page.locator(shown).first().waitFor()
    hold(`${name}, first data`, performance.now() - started, 1_000, 'ms')
    await holdStill(page, name)
  }

  const project = await makeProject(server.url, Number(flags.tasks))
  for (const width of WIDTHS) await useConsole(server.url, project, width)

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
  hold('Requests, longest task', await page.evaluate('longest'), LONGEST_TASK, 'ms')
  hold('Requests, nodes', after.Nodes, 2_000, '')
  hold('Requests, growth of the heap', (after.JSHeapUsedSize - before.JSHeapUsedSize) / 1e6, 20, 'MB')
} finally {
  await browser.close()
  if (server) {
    server.child.kill()
    // It stores until it has ended.
    await once(server.child, 'exit')
  }
  upstream.close()
  rmSync(folder, { recursive: true, force: true })
}
if (flags.check && failures.length > 0) process.exit(1)

/** The servers under test: how each is started, what it wants to be sent, and what the system says of its process. */
import { execFileSync, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'

const SERVER_CORE = '0'
const START_MS = 20_000
const KEY = 'gw-bench-0123456789abcdef0123456789'

const file = (name) => fileURLToPath(new URL(name, import.meta.url))
const { freePort } = (await runnerImport(file('../support/free-port.ts'))).module
const { listens } = (await runnerImport(file('../support/server.ts'))).module
const node = process.execPath
const portkey = file('node_modules/@portkey-ai/gateway/build/start-server.js')

let bunPath
/** The Bun that `npm run start:bun` takes. */
const bun = () =>
  (bunPath ??= execFileSync('npx', ['--yes', '-p', 'bun@1.4.5', '--', 'which', 'bun'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim())

/** A program on Node that counts what it allocates. */
const onNode = (...program) => [node, '--import', file('heap.mjs'), ...program]
const onBun = (...program) => [bun(), ...program]

const turnpike = (MODE, on, model) => ({
  command: () => on(file('turnpike.mjs')),
  model,
  env: () => ({ MODE, KEY }),
  headers: () => ({ authorization: `Bearer ${KEY}` }),
  control: true,
})

/** The program itself, as `npm start` runs it: with its request log, which goes nowhere, and the platform beside the gateway. */
const reference = {
  command: () => onNode('--max-semi-space-size=64', file('../../examples/server/dist/node.js')),
  env: (upstream) => ({
    STORAGE: 'memory',
    OPENAI_API_KEY: 'bench',
    OPENAI_BASE_URL: `${upstream}/v1`,
    OPENAI_MODELS: 'gpt-4o-mini',
    BOOTSTRAP_GATEWAY_KEY: KEY,
    BOOTSTRAP_GATEWAY_RATE_LIMIT: '1000000000',
  }),
  headers: () => ({ authorization: `Bearer ${KEY}` }),
}

const portkeyOn = (on) => ({
  command: (port) => on(portkey, '--headless', `--port=${port}`),
  env: () => ({}),
  headers: (upstream) => ({
    authorization: 'Bearer bench',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${upstream}/v1`,
  }),
})

/** By name, in the order in which a round takes them. */
export const servers = {
  floor: { command: () => onNode(file('floor.mjs')), env: () => ({}), headers: () => ({}) },
  server: turnpike('server', onNode),
  reference,
  hattip: turnpike('hattip', onNode),
  claude: turnpike('server', onNode, 'claude-sonnet-4-5'),
  gemini: turnpike('server', onNode, 'gemini-2.5-flash'),
  bun: turnpike('bun', onBun),
  portkey: portkeyOn(onNode),
  'portkey-bun': portkeyOn(onBun),
}

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** utime + stime of a process with all its threads, in seconds (proc(5); the name in parentheses may hold spaces). */
export function cpuSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

const running = new Set()
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

/** The mock upstream, on the runner's core. @returns its base URL */
export async function startMock() {
  const child = fork(file('mock.mjs'))
  running.add(child)
  const [port] = await once(child, 'message')
  return `http://127.0.0.1:${port}`
}

/**
 * Starts a server on its own core, with `more` in its environment. `cpu` tells the seconds that its process has used so far, `heap` the bytes
 * that it has allocated (on Node). `ask` sends a line to one that takes them and resolves with its answer.
 */
export async function startServer(name, upstream, more = {}) {
  const { command, env, headers, model, control = false } = servers[name]
  const isNode = !name.endsWith('bun')
  const port = await freePort()
  // taskset becomes the server, so that the process id is the server's.
  const child = spawn('taskset', ['-c', SERVER_CORE, ...command(port)], {
    cwd: file('.'),
    env: {
      ...process.env,
      NODE_ENV: 'production',
      BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
      PORT: String(port),
      UPSTREAM: upstream,
      ...env(upstream),
      ...more,
    },
    stdio: ['pipe', control ? 'pipe' : 'ignore', 'inherit', ...(isNode ? ['ipc'] : [])],
  })
  running.add(child)
  const until = performance.now() + START_MS
  while (!(await listens(`http://127.0.0.1:${port}`))) {
    if (child.exitCode !== null || performance.now() > until) throw new Error(`${name} does not start`)
    await delay(50)
  }
  const lines = control && createInterface({ input: child.stdout })
  return {
    target: { port, headers: headers(upstream), model },
    control,
    cpu: () => cpuSeconds(child.pid),
    async heap() {
      if (!isNode) return NaN
      child.send('heap')
      const [bytes] = await once(child, 'message')
      return bytes
    },
    async ask(line) {
      child.stdin.write(`${line}\n`)
      const [answer] = await once(lines, 'line')
      return JSON.parse(answer)
    },
    async stop() {
      running.delete(child)
      if (child.exitCode !== null) throw new Error(`${name} ended by itself`)
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

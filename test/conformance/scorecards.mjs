/**
 * Runs the conformance kit against the reference server, Portkey and, where the variable LITELLM has the path of its program, LiteLLM, and writes
 * their scorecards into docs/conformance.md. Words select some of them: `npm run conformance turnpike`.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'
import { runConformance, scorecard } from '../../packages/conformance/dist/index.js'
import { install } from '../bench/install.mjs'

const START_MS = 60_000
const KEY = 'gw-conformance-0123456789'
const file = (path) => fileURLToPath(new URL(path, import.meta.url))
const { freePort } = (await runnerImport(file('../support/free-port.ts'))).module
const { listens } = (await runnerImport(file('../support/server.ts'))).module
const upstreamPort = await freePort()
const upstream = `http://127.0.0.1:${upstreamPort}`

const portkey = file('../bench/node_modules/@portkey-ai/gateway/')
const page = file('../../docs/conformance.md')

/** The configuration of LiteLLM as the README of the kit has it, for these upstreams. */
function litellmConfig() {
  const readme = readFileSync(file('../../packages/conformance/README.md'), 'utf8')
  const [, config] = /```yaml\n([^]*?)```/.exec(readme)
  const path = join(mkdtempSync(join(tmpdir(), 'turnpike-litellm-')), 'litellm.yaml')
  writeFileSync(path, config.replaceAll('http://127.0.0.1:9797', upstream))
  return path
}

/** The headers by which Portkey selects its provider; it adds the paths of the vendors. */
const selects = (provider, path) => ({
  'x-portkey-provider': provider,
  'x-portkey-custom-host': `${upstream}/${path}`,
})

const all = [
  {
    name: 'turnpike',
    words: () => [file('../../examples/server/dist/node.js')],
    env: {
      STORAGE: 'memory',
      LOG: 'silent',
      BOOTSTRAP_GATEWAY_KEY: KEY,
      OPENAI_API_KEY: 'sk-upstream',
      OPENAI_BASE_URL: `${upstream}/openai/v1`,
      ANTHROPIC_API_KEY: 'sk-ant-upstream',
      ANTHROPIC_BASE_URL: `${upstream}/anthropic`,
      GEMINI_API_KEY: 'AIza-upstream',
      GEMINI_BASE_URL: `${upstream}/google/v1beta`,
    },
    options: { key: KEY, otherModels: 'openai/*' },
  },
  {
    name: 'portkey',
    words: (port) => [`${portkey}build/start-server.js`, '--headless', `--port=${port}`],
    env: { NODE_ENV: 'production' },
    options: {
      key: 'sk-upstream',
      familyHeaders: {
        openai: selects('openai', 'openai/v1'),
        anthropic: selects('anthropic', 'anthropic/v1'),
        google: selects('google', 'google'),
      },
    },
  },
  {
    name: 'litellm',
    program: process.env.LITELLM ?? '',
    words: (port) => ['--config', litellmConfig(), '--port', String(port)],
    env: {},
    options: { key: 'sk-0123456789abcdef' },
  },
]
const chosen = process.argv.slice(2)
const gateways = all.filter(({ name, program }) => program !== '' && (chosen.length === 0 || chosen.includes(name)))

async function scorecardOf({ name, program = process.execPath, words, env, options }) {
  const port = await freePort()
  const child = spawn(program, words(port), {
    env: { ...process.env, PORT: String(port), ...env },
    stdio: 'ignore',
  })
  try {
    const until = performance.now() + START_MS
    while (!(await listens(`http://127.0.0.1:${port}`))) {
      if (child.exitCode !== null || performance.now() > until) throw new Error(`${name} does not start`)
      await delay(50)
    }
    console.error(`Testing ${name} …`)
    return scorecard(await runConformance({ url: `http://127.0.0.1:${port}`, upstreamPort, ...options }))
  } finally {
    child.kill()
  }
}

/** What stands on the page between the marks of a gateway. */
const between = (name) => new RegExp(`(?<=<!-- ${name} -->\n)[^]*?(?=<!-- end -->)`)

install()
for (const gateway of gateways) {
  const [table, failures] = (await scorecardOf(gateway)).split('\n\n')
  const list = failures === undefined ? '' : `\n\`\`\`text\n${failures}\n\`\`\`\n`
  const text = readFileSync(page, 'utf8')
  writeFileSync(
    page,
    text.replace(between(gateway.name), () => `\n${table}\n${list}\n`),
  )
}

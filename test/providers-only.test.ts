import { execFileSync, spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { needs, testAll } from './support/needs.js'
import { pack } from './support/pack.js'
import { npxEnvironment, runtimePath } from './support/runtime.js'

const root = fileURLToPath(new URL('..', import.meta.url))
/** A plain project outside the workspace: the example, and its packages from tarballs. */
const project = mkdtempSync(join(tmpdir(), 'turnpike-plain-'))

/** Runs the example with each call of `fetch` on stderr, and with none that leaves this machine. */
const traced = `const { fetch } = globalThis
globalThis.fetch = async (url, init) => {
  console.error(init.method + ' ' + url)
  if (new URL(url).hostname !== '127.0.0.1') throw new Error('This test makes no calls')
  return fetch(url, init)
}
await import('./main.mjs')
`

beforeAll(async () => {
  const tarballs = Object.values(await pack(['core', 'providers'], project))
  writeFileSync(join(project, 'package.json'), '{"private":true}')
  const quiet = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund']
  execFileSync('npm', ['install', ...quiet, ...tarballs], { stdio: 'pipe', env: npxEnvironment(), cwd: project })
  copyFileSync(join(root, 'examples/providers-only/main.mjs'), join(project, 'main.mjs'))
  writeFileSync(join(project, 'traced.mjs'), traced)
}, 120_000)

afterAll(() => rmSync(project, { recursive: true }))

/** What the example prints, write by write, and which calls it makes. */
async function run(family: string, environment: Record<string, string> = {}) {
  const child = spawn(runtimePath(), ['traced.mjs', family, 'What is 6 times 7?'], { cwd: project, env: environment })
  const writes: string[] = []
  let calls = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => writes.push(text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (calls += text))
  const code = await new Promise((resolve) => child.on('close', resolve))
  return { code, writes, calls: calls.replaceAll(/:\d+\//g, ':port/') }
}

const gemini = 'POST http://127.0.0.1:port/v1beta/models/gemini-2.5-flash'
const claude = 'POST http://127.0.0.1:port/v1/messages\n'
const gpt = 'POST http://127.0.0.1:port/v1/chat/completions\n'

describe('the example in a plain project', needs(testAll), () => {
  it.each([
    ['anthropic', claude + claude],
    ['google', `${gemini}:generateContent\n${gemini}:streamGenerateContent?alt=sse\n`],
    ['openai', gpt + gpt],
  ])('%s: whole and streamed answers, over fetch', async (family, calls) => {
    const result = await run(family)
    expect(result).toMatchObject({ code: 0, calls })
    const answer = String.raw`This is a simulated answer\. You said: What is 6 times 7\? \(\d+ tokens\)`
    expect(result.writes.join('')).toMatch(new RegExp(`^whole: {4}${answer}\nstreamed: ${answer}\n$`))
    expect(result.writes.length).toBeGreaterThan(4)
  })

  it.each([
    ['anthropic', 'ANTHROPIC_API_KEY', 'https://api.anthropic.com/v1/messages'],
    [
      'google',
      'GEMINI_API_KEY',
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent',
    ],
    ['openai', 'OPENAI_API_KEY', 'https://api.openai.com/v1/chat/completions'],
  ])('%s: calls the real API where %s is set', async (family, variable, url) => {
    const { code, calls } = await run(family, { [variable]: 'a-key' })
    expect(calls).toContain(`POST ${url}\n`)
    expect(code).toBe(1)
  })

  it('does not install undici', () => {
    expect(existsSync(join(project, 'node_modules/undici'))).toBe(false)
  })
})

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { fakeAnthropic, fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../support/free-port.js'
import type { Need } from '../support/needs.js'
import { needs, programs } from '../support/needs.js'
import { bunPath, nodePath } from '../support/runtime.js'
import { startServer } from '../support/server.js'
import { joinText, parseStream } from '../support/sse.js'
import type { Place } from './places.js'
import { inBrowser, inProcess, inWorkerd } from './places.js'
import type { Projects } from './projects.js'
import { layOut } from './projects.js'

const compilers = ['5.9.3', '7.0.2']
/**
 * With which versions of `@types/node`, for Node 20, 22, 24 and the newest, what compiles, and how it resolves: each compiler with each resolution. The
 * older compiler, which takes five times as long, has the oldest and the newest types.
 */
const cells: [types: string, ...[compiler: string, resolution: string][]][] = [
  ['20.19.43', ['5.9.3', 'nodenext'], ['7.0.2', 'bundler']],
  ['22.20.5', ['7.0.2', 'nodenext']],
  ['24.19.2', ['7.0.2', 'bundler']],
  ['26.6.6', ['5.9.3', 'bundler'], ['7.0.2', 'nodenext']],
]

const run = promisify(execFile)
let projects: Projects

beforeAll(async () => {
  projects = await layOut(compilers)
})

afterAll(() => rmSync(projects.folder, { recursive: true, force: true }))

/** What is compiled at once; `.` is all hosts on Node but Next. */
const withNodeTypes = ['.', 'bun', 'next', 'every-entry']
const withoutNodeTypes = ['adapters', 'agent', 'client', 'workers']
/** Where all declarations that are loaded are checked too; those of Hono and Bun do not pass with every version of Node's types. */
const withDeclarations = ['agent', 'client', 'every-entry', 'workers']
const [newest] = cells.at(-1)!

describe.each(cells)('@types/node %s', (types, ...ways) => {
  beforeAll(() => projects.install(types))

  const chosen = [...withNodeTypes, ...(types === newest ? withoutNodeTypes : [])]
  const all = ways.flatMap(([compiler, resolution]) =>
    chosen
      // Next has no other.
      .filter((project) => project !== 'next' || resolution === 'bundler')
      .map((project) => [project, compiler, resolution] as const),
  )

  it.concurrent.each(all)('%s type-checks with TypeScript %s, %s', async (project, compiler, resolution) => {
    // Valibot's declarations take TypeScript 5.9 ten seconds, so there one version of Node's types has to do.
    const declarations = withDeclarations.includes(project) && (compiler !== '5.9.3' || types === newest)
    const module = resolution === 'bundler' ? 'esnext' : resolution
    const options = ['--noEmit', '--incremental', 'false', '--skipLibCheck', String(!declarations)]
    await projects.compile(project, compiler, '--module', module, '--moduleResolution', resolution, ...options)
  })
})

const script = ['--input-type=module', '--eval']

/** What the programs are run by. */
const runtimes = {
  [`Node ${process.versions.node}`]: process.execPath,
  'Node 22': nodePath('22.23.3'),
  'Node 24': nodePath('24.21.0'),
  Bun: bunPath(),
}

/** What is started of each host, by default on all runtimes. */
const hosts: Record<string, { args: string[]; prefix?: string; only?: 'Node' | 'Bun'; answer?: string }> = {
  bun: { args: ['main.ts'], only: 'Bun' },
  express: { args: ['main.js'], prefix: '/ai' },
  fastify: { args: ['main.js'], prefix: '/ai' },
  hattip: { args: ['main.js'] },
  hono: { args: ['main.js'] },
  next: { args: ['node_modules/next/dist/bin/next', 'start'], only: 'Node' },
  node: { args: ['main.js'] },
  // Its transport, undici, is for Node.
  'node-server': { args: ['main.js'], only: 'Node' },
  turnpike: { args: ['main.js'], answer: 'This is a simulated answer. You said: What is 6 times 7?' },
  workers: { args: ['start.mjs'], only: 'Node' },
}

const servers = Object.entries(hosts).flatMap(([host, { args, prefix = '', only = '', answer = 'Forty-two' }]) =>
  Object.entries(runtimes)
    .filter(([runtime]) => runtime.startsWith(only))
    .map(([runtime, path]) => [host, runtime, { command: [path, ...args], prefix, expected: answer }] as const),
)

/** Where the programs run that use a platform. */
const places: [name: string, place: Place, ...needed: Need[]][] = [
  ...Object.entries(runtimes).map(([name, command]): [string, Place] => [name, inProcess(command)]),
  ['Chromium', inBrowser, programs.chromium],
  ['workerd', inWorkerd],
]

/** What these programs tell. */
const users = {
  agent: { outcome: { status: 'done', task: { output: 'The tools answered: Sunny' } }, cities: ['city'] },
  client: {
    projects: [{ name: 'Website' }],
    reply: 'This is a simulated answer. You said: Hello',
    status: 404,
  },
}

const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'What is 6 times 7?' }], stream: true }

/** An answer whose first word comes at once, and its second once that has arrived. */
function answerInTwo() {
  let arrived!: () => void
  const first = new Promise<void>((resolve) => (arrived = resolve))
  const chunk = (delta: object, finish_reason: string | null = null): string =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  async function* body(): AsyncGenerator<string> {
    yield chunk({ role: 'assistant', content: 'Forty' })
    await first
    yield `${chunk({ content: '-two' })}${chunk({}, 'stop')}data: [DONE]\n\n`
  }
  return { arrived, answer: { status: 200, headers: { 'content-type': 'text/event-stream' }, body: body() } }
}

describe('runs', () => {
  let answer: ReturnType<typeof answerInTwo>
  // A provider at another address is asked for its models too.
  const upstream = fakeOpenAI({
    override: ({ path }) => (path.endsWith('/chat/completions') ? answer.answer : undefined),
  })
  let listening: Awaited<ReturnType<typeof upstream.listen>>
  beforeAll(async () => {
    listening = await upstream.listen()
    await projects.install(newest)
    for (const project of ['.', 'adapters', 'agent', 'client', 'every-entry']) await projects.compile(project, '7.0.2')
    const { PATH, HOME } = process.env
    const env = { PATH, HOME, NEXT_TELEMETRY_DISABLED: '1' }
    await run(process.execPath, [hosts['next']!.args[0]!, 'build'], { cwd: join(projects.folder, 'next'), env })
  }, 600_000)
  afterAll(() => listening.close())

  it.each(servers)('%s on %s: streams an answer piece by piece', async (host, _, { command, prefix, expected }) => {
    const cwd = join(projects.folder, host)
    const port = await freePort()
    const { PATH, HOME } = process.env
    const env = {
      PATH,
      HOME,
      PORT: String(port),
      OPENAI_API_KEY: 'any',
      OPENAI_BASE_URL: `${listening.url}/v1`,
      NEXT_TELEMETRY_DISABLED: '1',
    }
    // A group of its own, with what it starts itself: Next and workerd.
    const server = spawn(command[0]!, command.slice(1), { cwd, env, detached: true })
    let output = ''
    for (const stream of [server.stdout, server.stderr]) stream.on('data', (text) => (output += text))
    try {
      const base = `http://127.0.0.1:${port}${prefix}/v1`
      let refusal: Response | undefined
      let key: string | undefined
      while (!refusal || !key) {
        if (server.exitCode !== null) throw new Error(`${host} has ended:\n${output}`)
        await delay(50)
        refusal = await fetch(`${base}/models`).catch(() => undefined)
        key = /\bgw-\S+/.exec(output)?.[0]
      }
      expect(refusal.status, output).toBe(401)

      answer = answerInTwo()
      const response = await fetch(`${base}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(question),
      })
      expect(response.status, output).toBe(200)
      const pieces = response.body!.pipeThrough(new TextDecoderStream())
      let text = ''
      for await (const piece of pieces) {
        text += piece
        if (text.includes('Forty')) answer.arrived()
      }
      const events = parseStream(text)
      expect(joinText(events)).toBe(expected)
      expect(events.at(-1)).toEqual({ type: 'done' })
    } finally {
      if (server.exitCode === null) process.kill(-server.pid!, 'SIGKILL')
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
    }
  })

  it.each([
    ['anthropic', fakeAnthropic(), '', 'claude-sonnet-4-5'],
    ['google', fakeGoogle(), '/v1beta', 'gemini-2.5-flash'],
    ['openai', fakeOpenAI(), '/v1', 'gpt-4o-mini'],
  ])('adapters: %s answers alone', async (family, vendor, path, model) => {
    const { url, close } = await vendor.listen()
    const call = [family, { apiKey: 'any', baseURL: url + path }, model, 'Hello'].map((value) => JSON.stringify(value))
    const program = `import { ask } from './main.js'
      for await (const text of ask(${call.join()})) process.stdout.write(text)`
    const cwd = join(projects.folder, 'adapters')
    const { stdout } = await run(process.execPath, [...script, program], { cwd })
    await close()
    expect(stdout).toBe('This is a simulated answer. You said: Hello')
  })

  describe.each(places)('in %s', (_, place, ...needed) => {
    it.each(Object.entries(users))('%s: uses a platform', needs(...needed), async (name, expected) => {
      const server = await startServer()
      try {
        expect(await place(join(projects.folder, name), server.url)).toMatchObject(expected)
      } finally {
        await server.stop()
      }
    })
  })

  it('platform: serves the client, the dashboard and the documentation', async () => {
    const { stdout } = await run(process.execPath, ['main.js'], { cwd: join(projects.folder, 'platform') })
    expect(JSON.parse(stdout)).toEqual({
      projects: ['Website'],
      reply: 'This is a simulated answer. You said: Hello',
      admin: { title: 'Turnpike', statuses: [200, 200, 200, 200, 200, 200] },
      docs: { title: 'API · Turnpike', statuses: [200, 200, 200, 200] },
    })
  })

  it.each(Object.entries(runtimes))('every entry: loads on %s', async (_, command) => {
    const cwd = join(projects.folder, 'every-entry')
    const { stdout } = await run(command, ['main.js'], { cwd })
    expect(stdout).not.toBe('')
  })
})

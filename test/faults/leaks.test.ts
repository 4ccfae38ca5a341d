import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { needs, testAll } from '../support/needs.js'
import type { Callee } from '../support/raw-client.js'
import { openChat } from '../support/raw-client.js'
import { runtime, runtimePath } from '../support/runtime.js'
import { startServer } from '../support/server.js'

const times = <T>(n: number, make: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: n }, (_, i) => make(i)))

/** A stream that is far from its end when its first word is there. */
const long = { stream: true, messages: [{ role: 'user', content: 'word '.repeat(1_000) }] }

/** An upstream that sends a word each `delayMs`, until the test is over. */
async function startUpstream(delayMs: number) {
  const upstream = fakeOpenAI({ delayMs })
  const { url, close } = await upstream.listen()
  onTestFinished(close)
  return { upstream, baseURL: `${url}/v1` }
}

/** More than the 256 at which Bun's own `fetch` stops unless it is told otherwise. */
const STREAMS = 300

describe(`${STREAMS} streams whose clients disconnect`, () => {
  it('are aborted at the upstream within a second', async () => {
    const { upstream, baseURL } = await startUpstream(100)
    const server = await startServer({ OPENAI_API_KEY: 'sk-upstream', OPENAI_BASE_URL: baseURL, LOG: 'silent' })
    onTestFinished(async () => void (await server.stop()))
    const opening = times(STREAMS, () => openChat(server, long))
    await expect.poll(() => upstream.active).toBe(STREAMS)
    const calls = await opening
    await times(STREAMS, (i) => calls[i]!.seen('This'))
    expect([upstream.requests.length, upstream.active]).toEqual([STREAMS, STREAMS])

    for (const { abandon } of calls) abandon()
    await expect.poll(() => upstream.active).toBe(0)
  })
})

interface Memory {
  heapUsed: number
  rss: number
  /** Usage records so far: a stream that has one has ended. */
  records: number
}

/** Starts leak-server.mjs on the chosen runtime, until the test is over. */
async function startLeakServer(baseURL: string): Promise<Callee & { measure(): Promise<Memory> }> {
  const key = 'gw-leaks-0123456789abcdef'
  const script = fileURLToPath(new URL('leak-server.mjs', import.meta.url))
  const child = spawn(runtimePath(), [...(runtime === 'node' ? ['--expose-gc'] : []), script], {
    env: { PATH: process.env['PATH'], OPENAI_BASE_URL: baseURL, GATEWAY_KEY: key },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    child.kill()
    await once(child, 'exit')
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const line = async (): Promise<string> => ((await lines.next()) as IteratorYieldResult<string>).value
  return {
    url: await line(),
    key,
    async measure() {
      child.stdin.write('gc\n')
      return JSON.parse(await line()) as Memory
    },
  }
}

describe('1,000 streams, four times', needs(testAll), () => {
  it('leave nothing in memory, whether or not they are read to their end', { timeout: 120_000 }, async () => {
    const { upstream, baseURL } = await startUpstream(1)
    const server = await startLeakServer(baseURL)

    const readToTheEnd = async (): Promise<void> => {
      const call = await openChat(server, { stream: true })
      expect((await call.reply).body).toMatch(/data: \[DONE\]\n\n$/)
    }
    const abandon = async (): Promise<void> => {
      const call = await openChat(server, long)
      await call.seen('This')
      call.abandon()
      expect((await call.reply).whole).toBe(false)
    }

    const figures: Memory[] = []
    for (let cycle = 1; cycle <= 4; cycle++) {
      for (let i = 0; i < 1_000; i += 50) await times(50, (i) => (i % 2 ? abandon() : readToTheEnd()))
      await expect.poll(() => upstream.active).toBe(0)
      figures.push(await server.measure())
    }
    expect(figures.map(({ records }) => records)).toEqual([1, 2, 3, 4].map((cycle) => cycle * 1_000))
    const [first, ...others] = figures.map(({ heapUsed }) => heapUsed)
    for (const heapUsed of others) expect(heapUsed / first!, JSON.stringify(figures)).toBeLessThan(1.05)
  })
})

import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Report } from '@turnpike/conformance'
import { ConformanceError, runConformance, scorecard } from '@turnpike/conformance'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../support/free-port.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'
import { mutants, startMutant } from './mutants.js'

const cli = fileURLToPath(new URL('../../packages/conformance/dist/cli.js', import.meta.url))
const page = fileURLToPath(new URL('../../docs/conformance.md', import.meta.url))

let upstreamPort: number
let server: Server

beforeAll(async () => {
  upstreamPort = await freePort()
  const upstream = `http://127.0.0.1:${upstreamPort}`
  server = await startServer({
    LOG: 'silent',
    OPENAI_API_KEY: 'sk-upstream',
    OPENAI_BASE_URL: `${upstream}/openai/v1`,
    ANTHROPIC_API_KEY: 'sk-ant-upstream',
    ANTHROPIC_BASE_URL: `${upstream}/anthropic`,
    GEMINI_API_KEY: 'AIza-upstream',
    GEMINI_BASE_URL: `${upstream}/google/v1beta`,
    // Its upstreams list their models.
    OPENAI_MODELS: '',
    ANTHROPIC_MODELS: '',
    GEMINI_MODELS: '',
  })
})

afterAll(() => server.stop())

it('the reference server passes every case, as docs/conformance.md says', async () => {
  const report = await runConformance({ url: server.url, key: server.key, otherModels: 'openai/*', upstreamPort })
  expect(report.results.filter(({ passed }) => !passed)).toEqual([])
  expect(readFileSync(page, 'utf8')).toContain(`\n${scorecard(report)}\n`)
})

describe('a gateway', () => {
  it.each(mutants)('that $title fails the suite $suite', async (mutant) => {
    const gateway = await startMutant(server.url, mutant)
    try {
      const { results } = await runConformance({
        url: gateway.url,
        key: server.key,
        otherModels: 'openai/*',
        upstreamPort,
        only: [mutant.suite, 'openai', mutant.seenBy],
      })
      expect(results.length).toBeGreaterThan(0)
      expect(results.filter(({ passed }) => passed)).toEqual([])
    } finally {
      await gateway.close()
    }
  })
})

it('a gateway that does not reach the upstreams is not judged', async () => {
  const run = runConformance({ url: server.url, key: 'gw-of-nobody-0123456789', upstreamPort, only: ['openai'] })
  await expect(run).rejects.toThrow(ConformanceError)
  await expect(run).rejects.toThrow(/No request reached the upstreams[^]*401[^]*\/openai\/v1/)
})

interface Ended {
  code: number
  stdout: string
  stderr: string
}

const run = (...words: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(process.execPath, [cli, ...words], (error, stdout, stderr) =>
      resolve({ code: error ? (error.code as number) : 0, stdout, stderr }),
    )
  })

/** Runs the cases that match `only` against a gateway. */
const judge = (url: string, only: string[], ...words: string[]): Promise<Ended> =>
  run(
    url,
    '--key',
    server.key,
    '--upstream-port',
    String(upstreamPort),
    ...only.flatMap((it) => ['--only', it]),
    ...words,
  )

describe('turnpike-conformance', () => {
  it('prints the scorecard and writes the report', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'turnpike-conformance-'))
    try {
      const file = join(folder, 'report.json')
      const only = ['google', 'the first piece']
      const { code, stdout, stderr } = await judge(`${server.url}/v1/`, only, '--json', file)
      expect(stdout).toBe(
        [
          '|         | google | all |',
          '| ------- | ------ | --- |',
          '| streams | 1/1    | 1/1 |',
          '| all     | 1/1    | 1/1 |\n',
        ].join('\n'),
      )
      expect(stderr).toContain('passed  streams, google: the first piece arrives')
      expect(code).toBe(0)
      const { results } = JSON.parse(readFileSync(file, 'utf8')) as Report
      expect(results).toMatchObject([{ suite: 'streams', family: 'google', passed: true }])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('exits 1 where a case fails, and says why', async () => {
    const gateway = await startMutant(
      server.url,
      mutants.find(({ title }) => title === 'swaps a finish_reason')!,
    )
    try {
      const { code, stdout } = await judge(gateway.url, ['openai', 'streams', 'at its limit'])
      expect(stdout).toContain('finish_reason: expected "length", got "stop" (OpenAI API reference')
      expect(code).toBe(1)
    } finally {
      await gateway.close()
    }
  })

  it('lists the cases', async () => {
    const { code, stdout } = await run('--list', '--only', 'faults')
    expect(stdout).toMatch(/^faults, anthropic: 429 is 429$/m)
    expect(stdout).not.toContain('translation')
    expect(code).toBe(0)
  })

  it.each([
    ['no URL', [], /Exactly one URL is needed[^]*Usage:/],
    ['what is no URL', ['gateway'], /No URL: gateway/],
    ['an unknown option', ['http://a.example', '--platforms'], /Unknown option '--platforms'/],
    ['a header without a value', ['http://a.example', '--header', 'x-team'], /A header is NAME: VALUE, not x-team/],
    ['what is no port', ['http://a.example', '--upstream-port', '0'], /--upstream-port: no port: 0/],
    ['an unknown case', ['http://a.example', '--only', 'surprise'], /No case matches surprise/],
  ])('exits 2 for %s', async (_, words, message) => {
    const { code, stdout, stderr } = await run(...words)
    expect(stderr).toMatch(message)
    expect(stdout).toBe('')
    expect(code).toBe(2)
  })

  it('exits 2 where no gateway listens', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}`
    const { code, stderr } = await judge(nobody, ['openai'])
    expect(stderr).toContain('the gateway did not answer')
    expect(code).toBe(2)
  })
})

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { DRAIN_MS } from '@turnpike/gateway'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { loadConfig } from '../../packages/turnpike/src/config/load.js'
import { needs, programs, testAll } from '../support/needs.js'
import { blocksOf, readPage, sectionOf } from '../support/page.js'
import { startRedis } from '../support/redis.js'
import { npxEnvironment, runtime } from '../support/runtime.js'
import { startServer } from '../support/server.js'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const page = readPage('docs/deployment.md')

const [settingsFile = ''] = blocksOf(sectionOf(page, 'Settings and secrets'), 'sh')
const settings = Object.fromEntries(
  [...settingsFile.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]),
)
const [unit = ''] = blocksOf(page, 'ini')
const containerfile = readPage('Containerfile')

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turnpike-release-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe('the settings of docs/deployment.md', () => {
  it('are valid, and described in docs/server.md', async () => {
    const described = new Set([...readPage('docs/server.md').matchAll(/`([A-Z\d_]+)`/g)].map(([, name]) => name))
    expect(Object.keys(settings).filter((name) => !described.has(name))).toEqual([])
    expect(await loadConfig(settings)).toMatchObject({ server: { workers: 2, trustedHops: 1 } })
  })

  it('start a server that Prometheus can scrape as the page configures it', needs(programs.redis), async () => {
    const redis = await startRedis()
    // Keys of providers, so that nothing is simulated; no request of this test calls one.
    const server = await startServer({ ...settings, STORAGE: redis.url, FILES: 'memory', BOOTSTRAP_GATEWAY_KEY: '' })
    try {
      expect(server.output()).not.toContain(settings['ADMIN_PASSWORD'])
      expect(server.output()).toContain(`Console: ${settings['BASE_URL']}/console`)
      const { scrape_configs } = parse(blocksOf(page, 'yaml')[0]!) as {
        scrape_configs: { scheme: string; authorization: { type: string; credentials: string } }[]
      }
      const { type, credentials } = scrape_configs[0]!.authorization
      const response = await fetch(`${server.url}/metrics`, { headers: { authorization: `${type} ${credentials}` } })
      const metrics = await response.text()
      expect(response.status).toBe(200)
      for (const [, name] of sectionOf(page, 'Metrics and alarms').matchAll(/`(turnpike_\w+)`/g))
        expect(metrics).toContain(`# TYPE ${name} `)
    } finally {
      await server.stop()
      await redis.stop()
    }
  })
})

describe('the unit of systemd of docs/deployment.md', () => {
  it('is one that systemd can load', needs(programs.systemd), async () => {
    const file = join(folder, 'turnpike.service')
    // Node is somewhere else on some machines.
    await writeFile(file, unit.replace('/usr/bin/node', process.execPath))
    const { stdout, stderr } = await run(programs.systemd.path, ['verify', file])
    expect(stdout + stderr).toBe('')
  })

  it('gives running requests the time to end', () => {
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)![1])).toBeGreaterThan(DRAIN_MS / 1_000)
  })
})

/** The instructions of a stage of the Containerfile, such as `['RUN', 'npm run build']`. */
function instructionsOf(stage: number): [name: string, rest: string][] {
  const lines = containerfile.replaceAll(/^#.*\n/gm, '').replaceAll('\\\n', '')
  return [...(lines.split(/^FROM .*\n/m)[stage + 1] ?? '').matchAll(/^(\w+) +(.*)$/gm)].map(([, name, rest]) => [
    name!,
    rest!,
  ])
}

describe('a release', () => {
  it('is built by the same commands on a host and in the container', () => {
    const [onHost = ''] = blocksOf(sectionOf(page, 'Build a release'), 'sh')
    const commands = instructionsOf(0).flatMap(([name, rest]) => (name === 'RUN' ? [rest] : []))
    const [release] = /^\/opt\/\S+$/m.exec(onHost.split(' -- ')[1]!)!
    expect(onHost.split('\n').slice(0, 3)).toEqual(commands.map((command) => command.replace('/server', release)))
    // What the unit starts, where the link is.
    expect(unit).toContain(
      `ExecStart=/usr/bin/node --max-semi-space-size=64 ${join(release, '../current')}/dist/node.js\n`,
    )
  })

  // Ten seconds, and it reads the registry where the packages are not cached.
  it.runIf(runtime === 'node')(
    'runs on its own, without what builds it, and passes the health check',
    needs(testAll),
    async () => {
      const release = join(folder, 'release')
      await run('npm', ['run', 'deploy', '--', release], { cwd: root, env: npxEnvironment() })
      expect(
        (await readdir(join(release, 'node_modules/.pnpm'))).filter((name) => /^(typescript|tsup|esbuild)@/.test(name)),
      ).toEqual([])

      const instructions = instructionsOf(1)
      const command = (name: string): string[] =>
        JSON.parse(/\[.*\]/.exec(instructions.find(([it]) => it === name)![1])![0]) as string[]
      const [node, script] = command('CMD')
      expect([node, existsSync(join(release, script!))]).toEqual(['node', true])
      const check = (url: string): string[] =>
        command('HEALTHCHECK')
          .slice(1)
          .map((word) => word.replace('http://127.0.0.1:8787', url))
      const server = await startServer({}, { cwd: folder, script: join(release, script!) })
      try {
        await run(process.execPath, check(server.url))
      } finally {
        await server.stop()
      }
      await expect(run(process.execPath, check(server.url))).rejects.toMatchObject({ code: 1 })
      const { PATH, HOME } = process.env
      const env = { PATH, HOME, STORAGE: `fs:${join(folder, 'store')}`, PASSWORD_COST: '8' }
      const added = await run(process.execPath, [join(release, 'dist/users.js'), 'add', 'ada@example.org'], { env })
      expect(added.stdout).toMatch(/^ada@example\.org {2}\S+\n$/)
    },
  )

  it('runs as a user without rights, on a port and in a folder that the page names', () => {
    const final = instructionsOf(1)
    expect(final).toContainEqual(['USER', 'node'])
    expect(final.filter(([name]) => name === 'COPY')).toEqual([['COPY', '--from=build /server .']])
    const [ran = ''] = blocksOf(sectionOf(page, 'Container'), 'sh')
    for (const [name, value] of final) {
      if (name === 'EXPOSE') expect(ran).toContain(`:${value}:${value} `)
      if (name === 'VOLUME') expect(ran).toContain(`:${value} `)
    }
  })
})

import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import type * as Dashboard from '@turnpike/dashboard'
import type * as Docs from '@turnpike/dashboard/docs'
import { build } from 'esbuild'
import { afterAll, expect, it } from 'vitest'
import { packages, project } from './release.js'

const gzip = (bytes: string | Uint8Array): number => gzipSync(bytes, { level: 9 }).length

/**
 * Bytes of what a program needs to import `what`: bundled with all dependencies, minified, gzipped.
 * @param external the imports that the runtime has; by default, one of Node fails
 */
async function bundle(what: string, from: string, external: string[] = []): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: `export { ${what} } from '@turnpike/${from}'`, resolveDir: project },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    external,
    write: false,
  })
  return gzip(outputFiles[0]!.contents)
}

const load = (entry: string): Promise<unknown> =>
  import(
    /* @vite-ignore */ pathToFileURL(createRequire(join(project, 'package.json')).resolve(`@turnpike/${entry}`)).href
  )

const total = (
  files: Readonly<Record<string, Dashboard.DashboardFile>>,
  only: (path: string) => boolean = () => true,
) =>
  Object.entries(files)
    .filter(([path]) => only(path))
    .reduce((sum, [, { body }]) => sum + gzip(typeof body === 'function' ? body() : body), 0)

const dashboard = async () => total(((await load('dashboard')) as typeof Dashboard).dashboardFiles)

async function docs() {
  const { docsFiles } = (await load('dashboard/docs')) as typeof Docs
  const read = (name: string) =>
    JSON.parse(readFileSync(new URL(`../../docs/openapi/${name}.json`, import.meta.url), 'utf8')) as Docs.ApiDocument
  return docsFiles(() => ({ gateway: read('gateway'), platform: read('platform') }))
}

const tarball = (name: string) => statSync(packages.find((one) => one.name === name)!.tarball).size

/** The budgets: package, what, bytes at most, and how it is measured. Raise one on purpose, in the change that needs it. */
const budgets: [string, string, number, () => number | Promise<number>][] = [
  // docs/decisions/010
  ['providers', 'import anthropic', 31_300, () => bundle('anthropic', 'providers/anthropic')],
  ['providers', 'import google', 33_800, () => bundle('google', 'providers/google')],
  ['providers', 'import openai', 32_600, () => bundle('openai', 'providers/openai')],
  ['providers', 'import azure', 33_100, () => bundle('azure', 'providers/azure')],
  // Without aws4fetch, 2.3 kB, which is a peer.
  ['providers', 'import bedrock', 40_300, () => bundle('bedrock', 'providers/bedrock', ['aws4fetch'])],
  ['providers', 'import vertex', 45_400, () => bundle('vertex', 'providers/vertex')],
  ['providers', 'import preset', 33_200, () => bundle('preset', 'providers/presets')],
  ['providers', 'import createRouter', 17_400, () => bundle('createRouter', 'providers')],
  ['client', 'import createClient', 6_000, () => bundle('createClient', 'client')],
  ['agent', 'import runTask, workTasks', 8_000, () => bundle('runTask, workTasks', 'agent')],
  ['gateway', 'import createGateway', 77_500, () => bundle('createGateway', 'gateway', ['node:*'])],
  [
    'platform',
    'import createPlatform, passwordAuth',
    114_100,
    () => bundle('createPlatform, passwordAuth', 'platform', ['node:*']),
  ],
  // Without oauth4webapi, 8.4 kB, which is a peer.
  ['platform', 'import oidc', 5_400, () => bundle('oidc', 'platform/single-sign-on', ['oauth4webapi'])],
  ['dashboard', '/admin, with script, styles and font', 145_000, dashboard],
  ['dashboard', '/docs of the reference server', 60_000, async () => total(await docs(), (path) => path === '/docs')],
  [
    'dashboard',
    'script, styles and font of /docs',
    58_200,
    async () => total(await docs(), (path) => path !== '/docs'),
  ],
  ['agent', 'tarball', 34_500, () => tarball('agent')],
  ['client', 'tarball', 44_000, () => tarball('client')],
  ['conformance', 'tarball', 220_000, () => tarball('conformance')],
  ['core', 'tarball', 241_000, () => tarball('core')],
  ['dashboard', 'tarball', 167_000, () => tarball('dashboard')],
  ['gateway', 'tarball', 239_000, () => tarball('gateway')],
  ['http', 'tarball', 111_500, () => tarball('http')],
  ['platform', 'tarball', 416_000, () => tarball('platform')],
  ['providers', 'tarball', 538_000, () => tarball('providers')],
  ['storage', 'tarball', 148_000, () => tarball('storage')],
  ['turnpike', 'tarball', 474_000, () => tarball('turnpike')],
]

const rows: object[] = []
afterAll(() => console.table(rows))

it.each(budgets)('%s: %s takes at most %i bytes', async (name, what, budget, measure) => {
  const bytes = await measure()
  rows.push({ package: name, what, bytes, budget })
  expect(bytes).toBeLessThanOrEqual(budget)
  // Nothing of it is missing.
  expect(bytes).toBeGreaterThan(budget / 4)
})

it.each(packages)('the README of $name states its budgets', ({ name, installed }) => {
  const own = budgets.filter(([of]) => of === name)
  expect(own.map(([, what]) => what)).toContain('tarball')
  const [size] = /^\| Size \|.*$/m.exec(readFileSync(join(installed, 'README.md'), 'utf8'))!
  expect(own.filter(([, , budget]) => !size.includes(` ${budget / 1000} kB`))).toEqual([])
})

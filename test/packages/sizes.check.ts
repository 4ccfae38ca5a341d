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

/** The budgets, in bytes: what, at most, and how it is measured. Raise one on purpose, in the change that needs it. */
const budgets: [string, number, () => number | Promise<number>][] = [
  ['import anthropic (docs/decisions/010)', 10_700, () => bundle('anthropic', 'providers/anthropic')],
  ['import google', 12_600, () => bundle('google', 'providers/google')],
  ['import openai', 10_000, () => bundle('openai', 'providers/openai')],
  ['import createClient', 6_000, () => bundle('createClient', 'client')],
  ['import createRouter', 8_500, () => bundle('createRouter', 'providers')],
  ['import createGateway', 48_000, () => bundle('createGateway', 'gateway', ['node:*'])],
  ['import createPlatform, passwordAuth', 64_000, () => bundle('createPlatform, passwordAuth', 'platform', ['node:*'])],
  ['page /admin, with script and styles', 60_000, dashboard],
  ['page /docs of the reference server', 60_000, async () => total(await docs(), (path) => path === '/docs')],
  ['script and styles of /docs', 12_000, async () => total(await docs(), (path) => path !== '/docs')],
  ['tarball of client', 40_000, () => tarball('client')],
  ['tarball of core', 150_000, () => tarball('core')],
  ['tarball of dashboard', 80_000, () => tarball('dashboard')],
  ['tarball of gateway', 130_000, () => tarball('gateway')],
  ['tarball of http', 85_000, () => tarball('http')],
  ['tarball of platform', 175_000, () => tarball('platform')],
  ['tarball of providers', 275_000, () => tarball('providers')],
  ['tarball of storage', 130_000, () => tarball('storage')],
]

const rows: Record<string, object> = {}
afterAll(() => console.table(rows))

it.each(budgets)('%s takes at most %i bytes', async (what, budget, measure) => {
  const bytes = await measure()
  rows[what] = { bytes, budget }
  expect(bytes).toBeLessThanOrEqual(budget)
  // Nothing of it is missing.
  expect(bytes).toBeGreaterThan(budget / 4)
})

it('has a budget for each tarball', () => {
  const names = budgets.flatMap(([what]) => (what.startsWith('tarball of ') ? [what.slice('tarball of '.length)] : []))
  expect(names).toEqual(packages.map(({ name }) => name))
})

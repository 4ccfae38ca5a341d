import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { afterAll, describe, expect, it } from 'vitest'
import { installScripts, manifestOf, treeOf } from '../support/dependency-tree.js'
import { nameOf } from '../support/pack.js'
import { packages } from './release.js'

const run = promisify(execFile)
const require = createRequire(import.meta.url)
const attw = join(require.resolve('@arethetypeswrong/cli/package.json'), '../dist/index.js')

/** What is printed at the end, by package. */
const rows: Record<string, object> = {}
afterAll(() => console.table(rows))

/** Packages of others that are part of a package of ours. */
const bundled: Record<string, string[]> = {
  conformance: ['@vitest/expect', 'chai'],
  dashboard: ['@preact/signals', 'preact', 'uplot'],
  turnpike: ['@preact/signals', 'preact'],
}
const NOTICES = 'dist/THIRD-PARTY-NOTICES.txt'

/** How many packages one may need at most, where it is not 8: this one has those of all, jiti and yaml. */
const most: Record<string, number> = { turnpike: 20 }

it('has one version for all, and each wants exactly that of the others', () => {
  const manifests = packages.map(({ installed }) => manifestOf(installed))
  const { version } = manifests[0]!
  expect(manifests.map((manifest) => manifest.version)).toEqual(packages.map(() => version))
  const ranges = manifests.flatMap(({ dependencies = {} }) =>
    Object.entries(dependencies).filter(([name]) => name.startsWith('@turnpike/')),
  )
  expect(ranges.filter(([, range]) => range !== version)).toEqual([])
  expect(version).not.toBe('0.0.0')
})

it.concurrent.for(packages)('$name passes publint and attw', async ({ tarball }, { expect }) => {
  const { messages } = await publint({
    pack: { tarball: new Uint8Array(readFileSync(tarball)).buffer },
    strict: true,
  })
  expect(messages).toEqual([])
  const told = run(process.execPath, [attw, tarball, '--profile', 'esm-only'])
  await told.catch((error: { stdout: string }) => expect.fail(error.stdout))
})

describe.each(packages)('$name', ({ name, tarball, installed }) => {
  const files = readdirSync(installed, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  /** What it exports that is no code. */
  const data = Object.values(manifestOf(installed).exports)
    .filter((target) => typeof target === 'string' && target !== './package.json')
    .map((target) => (target as string).slice(2))

  it('contains what was built, the README and the licence', () => {
    expect(readdirSync(installed).toSorted()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json'])
    expect(
      files
        .filter((file) => !/(?<!\.test)\.(js|js\.map|d\.ts)$/.test(file))
        .map((file) => file.slice(installed.length + 1))
        .toSorted(),
    ).toEqual(['LICENSE', 'README.md', ...(name in bundled ? [NOTICES] : []), ...data, 'package.json'])
    const [readme] = readFileSync(join(installed, 'README.md'), 'utf8').split('\n')
    expect(readme).toBe(`# ${nameOf(name)}`)
  })

  it.runIf(name in bundled)('has the licences of the packages that it contains', () => {
    const notices = readFileSync(join(installed, NOTICES), 'utf8')
    for (const other of bundled[name]!)
      expect(notices).toMatch(new RegExp(`^${other} \\d+\\..*\\n\\n[^]*?Copyright`, 'm'))
  })

  it('has source maps with their sources', () => {
    const maps = files.flatMap((file) => {
      const [, map] = /\n\/\/# sourceMappingURL=(\S+)\s*$/.exec(readFileSync(file, 'utf8')) ?? []
      return map ? [join(file, '..', map)] : []
    })
    expect(maps.filter((map) => !existsSync(map))).toEqual([])
    const incomplete = maps.filter((map) => {
      const { sources, sourcesContent = [] } = JSON.parse(readFileSync(map, 'utf8')) as Record<string, string[]>
      return sources!.some((_, i) => !sourcesContent[i])
    })
    expect(incomplete).toEqual([])
  })

  it('has few dependencies, of dependencies too, and none that runs when it is installed', () => {
    const tree = treeOf(installed)
    const { version } = manifestOf(installed)
    rows[name] = {
      version,
      files: files.length,
      'kB packed': readFileSync(tarball).length / 1000,
      dependencies: tree.length - 1,
    }
    expect(tree.length - 1).toBeLessThanOrEqual(most[name] ?? 8)
    expect(tree.flatMap(installScripts)).toEqual([])
  })
})

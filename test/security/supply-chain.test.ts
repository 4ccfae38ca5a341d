import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`)

interface Manifest {
  name: string
  version: string
  scripts?: Record<string, string>
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}
const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

/** The folder of a package that one in `from` depends on; undefined where an optional one is not installed. */
function folderOf(name: string, from: string): string | undefined {
  const places = createRequire(join(from, 'package.json')).resolve.paths(name)!
  const place = places.find((path) => existsSync(join(path, name, 'package.json')))
  return place && realpathSync(join(place, name))
}

/** All that is installed to run a package: its folder, and those of all it depends on. */
function treeOf(folder: string, found = new Set<string>()): Set<string> {
  if (found.has(folder)) return found
  found.add(folder)
  const { dependencies, optionalDependencies } = manifestOf(folder)
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const next = folderOf(name, folder)
    if (next) treeOf(next, found)
    else if (!optionalDependencies?.[name]) throw new Error(`${name} of ${dirname(folder)} is not installed`)
  }
  return found
}

/** What npm runs when it installs a package. */
const hooks = ['preinstall', 'install', 'postinstall']
const runs = (folder: string): string[] => {
  const { name, scripts = {} } = manifestOf(folder)
  // With this file and no script, npm compiles it.
  const compiled = existsSync(join(folder, 'binding.gyp')) ? ['binding.gyp'] : []
  return [...hooks.filter((hook) => scripts[hook] !== undefined), ...compiled].map((what) => `${name}: ${what}`)
}

describe('threat 29: supply chain', () => {
  it.each(packages)('%s depends on at most 8 packages of others', (path) => {
    const { dependencies = {} } = manifestOf(join(root, path))
    const others = Object.keys(dependencies).filter((name) => !name.startsWith('@turnpike/'))
    expect(others.length).toBeLessThanOrEqual(8)
  })

  it.each([...packages, 'examples/server'])('%s depends on nothing that runs when it is installed', (path) => {
    const tree = [...treeOf(realpathSync(join(root, path)))]
    expect(tree.flatMap(runs)).toEqual([])
  })

  it('what is installed is what the lockfile has the hashes of, and nothing is run', () => {
    const lock = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')
    const resolutions = [...lock.matchAll(/^ {4}resolution: (.*)$/gm)].map((match) => match[1]!)
    expect(resolutions.length).toBeGreaterThan(100)
    expect(resolutions.filter((text) => !/^\{integrity: sha512-[\w+/=]{88}\}$/.test(text))).toEqual([])
    const { scripts } = manifestOf(root)
    expect(scripts!['setup']).toContain('--frozen-lockfile')
    // Where pnpm asks, the answer is no.
    const [, builds] = /^allowBuilds: \{(.*)\}$/m.exec(readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8'))!
    expect(builds!.split(',').every((one) => one.trim().endsWith(': false'))).toBe(true)
  })

  it('finds what would be run', () => {
    const folder = folderOf('esbuild', join(root, 'test'))!
    expect(runs(folder)).toEqual(['esbuild: postinstall'])
  })
})

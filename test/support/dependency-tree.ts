import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** What the tests read of a package.json. */
export interface Manifest {
  name: string
  version: string
  exports: Record<string, string | object>
  scripts?: Record<string, string>
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

export const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

/** The folder of a package that one in `from` depends on; undefined where it is not installed. */
export function folderOf(name: string, from: string): string | undefined {
  const places = createRequire(join(from, 'package.json')).resolve.paths(name)!
  const place = places.find((path) => existsSync(join(path, name, 'package.json')))
  return place && realpathSync(join(place, name))
}

/**
 * All that is installed to run a package, without optional peers: its folder first, and those of all it depends on.
 * @throws Error where one is not installed that is not optional
 */
export function treeOf(folder: string, found = new Set<string>()): string[] {
  if (found.has(folder)) return [...found]
  found.add(folder)
  const { dependencies, optionalDependencies } = manifestOf(folder)
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const next = folderOf(name, folder)
    if (next) treeOf(next, found)
    else if (!optionalDependencies?.[name]) throw new Error(`${name} of ${folder} is not installed`)
  }
  return [...found]
}

/** What npm runs when it installs a package. */
const hooks = ['preinstall', 'install', 'postinstall']

/** What runs when a package is installed, in words. */
export function installScripts(folder: string): string[] {
  const { name, scripts = {} } = manifestOf(folder)
  // With this file and no script, npm compiles it.
  const compiled = existsSync(join(folder, 'binding.gyp')) ? ['binding.gyp'] : []
  return [...hooks.filter((hook) => scripts[hook] !== undefined), ...compiled].map((what) => `${name}: ${what}`)
}

import { existsSync, readFileSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkConfig } from './check.js'
import type { Origins } from './faults.js'
import { ConfigError } from './faults.js'
import type { Tree } from './tree.js'
import { isTree } from './tree.js'
import type { Config } from './schema.js'
import { providerVariables, signInVariables, variables } from './variables.js'

/** The names of a configuration in the working folder. */
const NAMES = ['ts', 'js', 'json', 'yaml', 'yml'].map((ending) => `turnpike.config.${ending}`)

/** Variables of the environment; an empty one counts as unset. */
export type Variables = Record<string, string | undefined>

/**
 * The file that `CONFIG` names, or the one in a folder; undefined where there is none.
 * @throws ConfigError if it is missing, or there are two
 * @example const file = findConfig(process.env)
 */
export function findConfig({ CONFIG }: Variables, folder = process.cwd()): string | undefined {
  if (CONFIG) {
    const file = resolve(folder, CONFIG)
    if (!existsSync(file)) throw new ConfigError([`CONFIG names ${CONFIG}, and there is no such file`])
    return file
  }
  const found = NAMES.filter((name) => existsSync(resolve(folder, name)))
  if (found.length > 1) throw new ConfigError([`There are ${found.join(' and ')}; CONFIG can name one of them`])
  return found[0] === undefined ? undefined : resolve(folder, found[0])
}

/** What a file says, as it is written. A file of code is run anew, with what it imports, each time. */
async function readFile(file: string): Promise<unknown> {
  const ending = extname(file)
  if (ending === '.json') return JSON.parse(readFileSync(file, 'utf8')) as unknown
  if (ending === '.yaml' || ending === '.yml') {
    const { parse } = await import('yaml')
    const text = readFileSync(file, 'utf8')
    // As a disk that is full or an editor leaves it for a moment: not what somebody wants.
    if (text.trim() === '') throw new Error('It is empty')
    return parse(text) as unknown
  }
  const { createJiti } = await import('jiti')
  // A file can import `defineConfig` in any folder.
  const alias = { turnpike: fileURLToPath(import.meta.resolve('turnpike')) }
  const module = await createJiti(file, { moduleCache: false, fsCache: false, alias }).import<Tree>(file)
  if (!('default' in module)) throw new Error('It has no default export')
  return module['default']
}

const REFERENCE = /\$(\$)?\{(\w+)(?::-([^}]*))?\}/g

/**
 * Puts variables in place of `${NAME}` and `${NAME:-default}` in all texts of a value; `$${` is `${`.
 * @param missing receives the path and name of each variable that is not set and has no default
 */
function substitute(
  value: unknown,
  environment: Variables,
  missing: (path: string, name: string) => void,
  path = '',
): unknown {
  if (typeof value === 'string')
    return value.replace(REFERENCE, (whole, escaped: string | undefined, name: string, preset?: string) => {
      if (escaped) return whole.slice(1)
      const given = environment[name] || preset
      if (given === undefined) missing(path, name)
      return given ?? ''
    })
  if (Array.isArray(value)) return value.map((item, i) => substitute(item, environment, missing, `${path}[${i}]`))
  if (!isTree(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      substitute(item, environment, missing, path ? `${path}.${name}` : name),
    ]),
  )
}

/** Sets a value by its path, unless something else than a section is on the way, which is a fault of its own. */
function set(tree: Tree, path: string, value: unknown): void {
  const names = path.split('.')
  const last = names.pop()!
  for (const name of names) {
    const next = (tree[name] ??= {})
    if (!isTree(next)) return
    tree = next
  }
  tree[last] = value
}

/** Adds the sign-in providers whose client the environment names, unless a file has a list. */
function withSignIn(given: Tree, environment: Variables, origins: Origins): void {
  const platform = given['platform']
  if (isTree(platform) && 'signInProviders' in platform) return
  const found = signInVariables.filter(({ clientId }) => environment[clientId])
  if (found.length === 0) return
  const list = found.map((names, i) =>
    Object.fromEntries(
      Object.entries(names).flatMap(([setting, name]) => {
        if (setting === 'id' || setting === 'preset') return [[setting, name]]
        origins.set(`platform.signInProviders[${i}].${setting}`, name)
        return environment[name] ? [[setting, environment[name]]] : []
      }),
    ),
  )
  set(given, 'platform.signInProviders', list)
}

/** Puts the variables of the environment in place of what a file says. The providers of a file are all that there are. */
function withVariables(given: Tree, environment: Variables, origins: Origins): void {
  for (const [name, path] of Object.entries(variables)) {
    const value = environment[name]
    if (!value) continue
    set(given, path, value)
    origins.set(path, name)
  }
  withSignIn(given, environment, origins)
  if ('providers' in given) return
  const families = providerVariables.map(({ type, ...names }) => {
    const set = Object.entries(names).filter(([, name]) => environment[name])
    const isReal = set.some(([setting]) => setting === 'apiKey' || setting === 'baseURL')
    // A simulation has the models of the catalogue.
    return { type, isReal, found: set.filter(([setting]) => isReal || setting !== 'models') }
  })
  const real = families.filter(({ isReal }) => isReal)
  given['providers'] = (real.length > 0 ? real : families).map(({ type, found, isReal }, i) => {
    for (const [setting, name] of found) origins.set(`providers[${i}].${setting}`, name)
    const settings = Object.fromEntries(found.map(([setting, name]) => [setting, environment[name]]))
    return { type, ...settings, ...(!isReal && { simulated: true }) }
  })
}

/**
 * Reads the configuration: the file that `CONFIG` names, or `turnpike.config.*` in the working folder, and the variables of the environment.
 * @throws ConfigError with all that is wrong
 * @example const { providers } = await loadConfig(process.env)
 */
export async function loadConfig(environment: Variables = process.env, folder = process.cwd()): Promise<Config> {
  const file = findConfig(environment, folder)
  let written: unknown = {}
  if (file !== undefined)
    try {
      written = await readFile(file)
    } catch (error) {
      // Its first line names the place; those behind it repeat the file, with its keys.
      const [reason] = (error as Error).message.split('\n')
      throw new ConfigError([`This file cannot be read: ${reason!.replace(/:$/, '')}`], file)
    }
  const origins: Origins = new Map()
  const unset: Origins = new Map()
  // A file of YAML that has nothing but comments is null.
  const given = substitute(written ?? {}, environment, (path, name) => unset.set(path, name))
  const providers = isTree(given) && 'providers' in given ? 'file' : 'environment'
  if (isTree(given)) withVariables(given, environment, origins)
  return checkConfig(given, { file, origins, unset, providers })
}

import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { npxEnvironment } from './runtime.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

const isPrivate = (name: string): boolean =>
  (JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as { private?: true }).private ===
  true

/** The names of the packages that are published, without the scope. */
export const published: readonly string[] = readdirSync(join(root, 'packages')).filter((name) => !isPrivate(name))

/** Runs the project's pnpm. */
export async function pnpm(cwd: string, ...words: string[]): Promise<void> {
  await run('npx', ['--yes', 'pnpm@10.34.9', ...words], { cwd, env: npxEnvironment() })
}

/** Packs packages of the workspace as they are published. @returns the tarballs' paths by package name */
export async function pack(names: readonly string[], folder: string): Promise<Record<string, string>> {
  const filters = names.flatMap((name) => ['--filter', `@turnpike/${name}`])
  await pnpm(root, '--recursive', ...filters, 'pack', '--pack-destination', folder)
  const files = readdirSync(folder)
  return Object.fromEntries(
    names.map((name) => {
      const file = files.find((one) => one.startsWith(`turnpike-${name}-`) && one.endsWith('.tgz'))
      if (!file) throw new Error(`pnpm has not packed ${name}`)
      return [`@turnpike/${name}`, join(folder, file)]
    }),
  )
}

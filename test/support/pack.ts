import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { npxEnvironment } from './runtime.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')) as { name: string; private?: true }

/** The folders of the packages that are published. */
export const published: readonly string[] = readdirSync(join(root, 'packages')).filter(
  (folder) => !manifestOf(folder).private,
)

/** The name of a package by its folder. */
export const nameOf = (folder: string): string => manifestOf(folder).name

/** Finds the tarball of a package by its folder, as npm and pnpm name it. @throws Error where there is none */
export function tarballOf(folder: string, files: readonly string[]): string {
  const start = `${nameOf(folder).replace(/^@/, '').replace('/', '-')}-`
  const file = files.find((one) => one.startsWith(start) && /^\d.*\.tgz$/.test(one.slice(start.length)))
  if (!file) throw new Error(`${folder} is not packed`)
  return file
}

/** Runs the project's pnpm. */
export async function pnpm(cwd: string, ...words: string[]): Promise<void> {
  await run('npx', ['--yes', 'pnpm@10.34.9', ...words], { cwd, env: npxEnvironment() })
}

/** Packs packages of the workspace, by their folders, as they are published. @returns the tarballs' paths by package name */
export async function pack(folders: readonly string[], destination: string): Promise<Record<string, string>> {
  const filters = folders.flatMap((folder) => ['--filter', nameOf(folder)])
  await pnpm(root, '--recursive', ...filters, 'pack', '--pack-destination', destination)
  const files = readdirSync(destination)
  return Object.fromEntries(folders.map((folder) => [nameOf(folder), join(destination, tarballOf(folder, files))]))
}

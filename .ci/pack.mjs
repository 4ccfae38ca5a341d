#!/usr/bin/env node
/** Packs the published packages, as they have been built: `npm run pack` makes tarballs in `tarballs/` that an app can install. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Packs the published packages of a workspace into a folder. @returns the paths of the tarballs; where it fails, this process shows that and ends */
export function pack(workspace, folder) {
  const packages = join(workspace, 'packages')
  const manifests = readdirSync(packages).map((name) =>
    JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')),
  )
  const filters = manifests.filter((manifest) => !manifest.private).flatMap(({ name }) => ['--filter', name])
  const words = ['--yes', '--package', 'pnpm@10.34.9', '--', 'pnpm', '--recursive', ...filters]
  const { status, stdout, error } = spawnSync('npx', [...words, 'pack', '--pack-destination', folder], {
    cwd: workspace,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) {
    console.error(error ?? stdout)
    process.exit(1)
  }
  return readdirSync(folder)
    .filter((name) => name.endsWith('.tgz'))
    .map((name) => join(folder, name))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const folder = join(root, 'tarballs')
  // An app installs all that is there, and must not get two versions of a package.
  rmSync(folder, { recursive: true, force: true })
  for (const tarball of pack(root, folder)) console.log(tarball)
}

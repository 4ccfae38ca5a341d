#!/usr/bin/env node
/**
 * Makes a release of what has been built (docs/releasing.md): packs the packages, installs the tarballs in an empty project, lists what that
 * has in an SBOM, and checks it all with test/packages. With `--publish` it then publishes. Without, or with `--dry-run`, nothing leaves this
 * machine, and the version is the one that the pending changesets lead to. Other options are those of vitest.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pack } from './pack.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, '.release')
const modes = ['--publish', '--dry-run']
const words = process.argv.slice(2)
const publish = words.includes('--publish') && !words.includes('--dry-run')
const testOptions = words.filter((word) => !modes.includes(word))

const json = (path) => JSON.parse(readFileSync(path, 'utf8'))
const pnpm = ['--yes', '--package', 'pnpm@10.34.9', '--']
const changeset = join(root, 'node_modules/@changesets/cli/bin.js')

/** Runs a command. @returns what it writes; where it fails, this process shows that and ends */
function run(cwd, command, ...args) {
  const stdio = ['ignore', 'pipe', 'inherit']
  const { status, stdout, error } = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26, stdio })
  if (status === 0) return stdout
  console.error(error ?? stdout)
  process.exit(1)
}

/** Runs a command in view; this process ends where it fails. */
function show(command, ...args) {
  const env = { ...process.env, RELEASE: folder }
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit', env })
  if (status !== 0) process.exit(status ?? 1)
}

/** Why a release cannot be published from here, or nothing. */
function obstacle() {
  if (readdirSync(join(root, '.changeset')).some((name) => name.endsWith('.md')))
    return 'There are changesets. Run `npx changeset version`, and commit what it changes.'
  if (run(root, 'git', 'status', '--porcelain') !== '') return 'There are changes that are not committed.'
}

/** A copy of the packages with the version and change logs of the next release. @returns its folder */
function nextVersion() {
  const copy = join(folder, 'next')
  // `turnpike` contains the console.
  for (const name of ['packages', 'examples/console', '.changeset', 'package.json', 'pnpm-workspace.yaml', 'LICENSE'])
    cpSync(join(root, name), join(copy, name), { recursive: true, verbatimSymlinks: true })
  run(copy, process.execPath, changeset, 'version')
  return copy
}

/** Installs the tarballs in an empty project, as somebody does who uses all of them. @returns its folder */
function install(tarballs) {
  const project = join(folder, 'project')
  mkdirSync(project)
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ name: 'turnpike-release', version: '0.0.0', private: true }),
  )
  const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  run(project, 'npm', 'install', ...options, ...tarballs)
  return project
}

/** Licences that the package.json of a dependency does not name, by what its LICENSE is. */
const licences = { '@hattip/core': 'MIT' }

/** Writes the SBOM (CycloneDX) of what is installed, without the places of this machine or of its registry. */
function writeSbom(project) {
  const sbom = JSON.parse(run(project, 'npm', 'sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'library'))
  const { version } = json(join(project, 'node_modules/@turnpike/core/package.json'))
  Object.assign(sbom.metadata.component, { version, purl: `pkg:npm/turnpike-release@${version}` })
  for (const component of sbom.components) {
    const id = licences[component.name]
    if (id) component.licenses = [{ license: { id } }]
    component.externalReferences = component.externalReferences.filter(({ type }) => type !== 'distribution')
  }
  writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(sbom, null, 2)}\n`)
}

const reason = publish && obstacle()
if (reason) {
  console.error(reason)
  process.exit(1)
}
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)
writeSbom(install(pack(publish ? root : nextVersion(), folder)))
show(
  process.execPath,
  'node_modules/vitest/vitest.mjs',
  'run',
  '--config',
  'test/checks.config.ts',
  'packages/',
  ...testOptions,
)
if (publish) show('npx', ...pnpm, 'changeset', 'publish')
else console.log('Dry run: nothing was published. `npm run release -- --publish` publishes.')

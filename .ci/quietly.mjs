// Runs scripts of this project's package.json one after the other, and shows the output only of one that fails.
// Usage: node .ci/quietly.mjs setup build
import { spawnSync } from 'node:child_process'
import { accessSync, constants, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

function isWritable(folder) {
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

const root = resolve(import.meta.dirname, '..')

/** npm and pnpm keep what they have downloaded in folders of the user; where these cannot be written, in one of this project. */
const { npm_config_cache: npmCache = homedir(), XDG_DATA_HOME = homedir(), XDG_CACHE_HOME = homedir() } = process.env
if (![npmCache, XDG_DATA_HOME, XDG_CACHE_HOME].every(isWritable)) {
  const folder = join(root, '.cache')
  console.log(`What is downloaded is kept in ${folder}, because the cache of npm cannot be written`)
  for (const name of ['npm_config_cache', 'XDG_DATA_HOME', 'XDG_CACHE_HOME', 'XDG_STATE_HOME'])
    process.env[name] = folder
}

for (const name of process.argv.slice(2)) {
  console.log(`npm run ${name}`)
  // One pipe, so that both kinds of output stay in their order.
  const options = { cwd: root, shell: true, encoding: 'utf8', maxBuffer: Infinity }
  const { status, stdout } = spawnSync(`npm run ${name} 2>&1`, options)
  if (status === 0) continue
  console.error(stdout)
  process.exit(status ?? 1)
}

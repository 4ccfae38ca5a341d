import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))

/** Installs the compared gateways; they are no part of the workspace, so that `npm start` does not fetch them. */
export function install() {
  const wanted = JSON.parse(readFileSync(`${here}package.json`, 'utf8')).dependencies
  const versionOf = (name) => {
    const path = `${here}node_modules/${name}/package.json`
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).version : undefined
  }
  if (Object.entries(wanted).every(([name, version]) => versionOf(name) === version)) return
  console.log('Installing the peers into test/bench/node_modules …')
  const options = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--loglevel=error']
  execFileSync('npm', ['install', ...options], { cwd: here, stdio: 'inherit' })
}

import { execFileSync } from 'node:child_process'

/** The environment for an npx of our own, when this process was started by one: npx hands its `--package` on to every npx below it. */
export function npxEnvironment(): NodeJS.ProcessEnv {
  const { npm_config_package: _, ...environment } = process.env
  return environment
}

/** Which runtime serves in the end-to-end tests: `TURNPIKE_RUNTIME=bun`, default node. */
export const runtime = process.env['TURNPIKE_RUNTIME'] === 'bun' ? 'bun' : 'node'

/** The path of a runtime that npm installs. */
const installed = (name: 'bun' | 'node', version: string): string =>
  execFileSync('npx', ['--yes', '-p', `${name}@${version}`, '--', 'which', name], {
    encoding: 'utf8',
    env: npxEnvironment(),
  }).trim()

let bun: string | undefined

/** The path of Bun, from npm. */
export const bunPath = (): string => (bun ??= process.env['BUN_PATH'] ?? installed('bun', '1.4.5'))

/** The path of a version of Node, from npm. */
export const nodePath = (version: string): string => installed('node', version)

/** The command that runs a script on the chosen runtime. */
export const runtimePath = (): string => (runtime === 'bun' ? bunPath() : process.execPath)

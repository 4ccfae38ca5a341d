import { execFile } from 'node:child_process'
import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { nameOf, pack, pnpm, published } from '../support/pack.js'

const run = promisify(execFile)
const packages = fileURLToPath(new URL('../../packages', import.meta.url))
const examples = fileURLToPath(new URL('../../examples', import.meta.url))

/** The hosts whose programs are examples. */
const embedded = ['express', 'hono', 'next', 'own-users', 'workers']
/** The hosts with a program here, which have the gateway of the examples. */
const others = ['bun', 'fastify', 'hattip', 'node']

/** Where the projects are: outside of the repository, with our packages as tarballs. */
export interface Projects {
  folder: string
  /** Installs what all projects ask for, with one version of `@types/node`. */
  install(nodeTypes: string): Promise<void>
  /** Compiles a project; rejects with what the compiler says. */
  compile(project: string, compiler: string, ...options: string[]): Promise<void>
}

/** A program that loads every entry of our packages. */
function everyEntry(): string {
  const entries = published.flatMap((name) => {
    const manifest = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')) as {
      publishConfig: { exports: object }
    }
    const paths = Object.keys(manifest.publishConfig.exports).filter((path) => path !== './package.json')
    return paths.map((path) => `${nameOf(name)}${path.slice(1)}`)
  })
  const load = (entry: string, i: number): string =>
    entry.endsWith('.json')
      ? `console.log(createRequire(import.meta.url)('${entry}'))\n`
      : `import * as entry${i} from '${entry}'\nconsole.log(entry${i})\n`
  return `import { createRequire } from 'node:module'\n${entries.map(load).join('')}`
}

/** Lays the projects of this folder, and the examples, out in a temporary one, with TypeScript in the versions given. */
export async function layOut(compilers: string[]): Promise<Projects> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-consumers-'))
  const here = import.meta.dirname
  for (const entry of readdirSync(here, { withFileTypes: true }))
    if (entry.isDirectory()) cpSync(join(here, entry.name), join(folder, entry.name), { recursive: true })
  copyFileSync(join(here, 'tsconfig.json'), join(folder, 'tsconfig.json'))
  const isSource = (path: string): boolean => !/\/(node_modules|\.next|next-env\.d\.ts)$/.test(path)
  for (const host of embedded)
    cpSync(join(examples, `embed-${host}`), join(folder, host), { recursive: true, filter: isSource })
  for (const host of others) copyFileSync(join(examples, 'embed-express/gateway.ts'), join(folder, host, 'gateway.ts'))
  writeFileSync(join(folder, 'every-entry/main.ts'), everyEntry())
  const devDependencies = Object.fromEntries(compilers.map((v) => [`typescript-${v}`, `npm:typescript@${v}`]))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, devDependencies }))
  const tarballs = Object.entries(await pack(published, join(folder, 'tarballs')))
  const overrides = Object.fromEntries(tarballs.map(([name, path]) => [name, `file:${path}`]))

  return {
    folder,
    async install(nodeTypes) {
      const settings = { packages: ['*'], overrides: { ...overrides, '@types/node': nodeTypes } }
      writeFileSync(join(folder, 'pnpm-workspace.yaml'), JSON.stringify(settings))
      await pnpm(folder, 'install', '--prefer-offline', '--no-frozen-lockfile', '--ignore-scripts')
    },
    async compile(project, compiler, ...options) {
      const require = createRequire(join(folder, 'package.json'))
      const manifest = require.resolve(`typescript-${compiler}/package.json`)
      const tsc = join(manifest, '..', (require(manifest) as { bin: { tsc: string } }).bin.tsc)
      const told = run(process.execPath, [tsc, '-p', project, ...options], { cwd: folder })
      await told.catch((error: { stdout?: string }) => {
        throw new Error(error.stdout || String(error))
      })
    },
  }
}

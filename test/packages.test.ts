import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { nameOf, published } from './support/pack.js'

const root = fileURLToPath(new URL('..', import.meta.url))

interface Manifest {
  name: string
  version: string
  license: string
  type: string
  sideEffects: boolean
  files: string[]
  bin?: Record<string, string>
  exports: Record<string, string | Record<string, string>>
  publishConfig: { exports: Record<string, string | Record<string, string>> }
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

/** What each package may import at run time (docs/design.md, section 2). */
const arrows: Record<string, string[]> = {
  agent: ['@turnpike/client'],
  client: [],
  conformance: ['@turnpike/providers'],
  core: ['valibot'],
  http: ['@turnpike/core', '@fastify/busboy', '@hattip/core', '@valibot/to-json-schema', 'valibot'],
  providers: ['@turnpike/core', 'aws4fetch', 'eventsource-parser', 'undici'],
  storage: ['@turnpike/core', 'aws4fetch', 'ioredis', 'pg'],
  gateway: ['@opentelemetry/api', '@turnpike/core', '@turnpike/http', 'prom-client', 'valibot'],
  platform: ['@turnpike/core', '@turnpike/http', 'jose', 'oauth4webapi', 'valibot'],
  dashboard: [],
  turnpike: [
    '@turnpike/core',
    '@turnpike/dashboard',
    '@turnpike/gateway',
    '@turnpike/http',
    '@turnpike/platform',
    '@turnpike/providers',
    '@turnpike/storage',
    'aws4fetch',
    'ioredis',
    'jiti',
    'nodemailer',
    'pg',
    'prom-client',
    'unstorage',
    'valibot',
    'yaml',
  ],
}

/** What is bundled into a package, so that it imports nothing of it at run time. */
const bundled: Record<string, string[]> = {
  dashboard: ['@preact/signals', '@turnpike/client', '@turnpike/ui', 'preact'],
  turnpike: ['@turnpike/example-console'],
}

const sourceOf = (target: unknown): string => (target as Record<string, string>)['@turnpike/source']!.slice(2)

/** The files, and the folder, that know of Node; everything else runs wherever `fetch` does. */
const nodeFiles = [
  'conformance/src/cases/translation-answers.ts',
  'conformance/src/cli.ts',
  'conformance/src/expect.ts',
  'conformance/src/upstream.ts',
  'http/src/node.ts',
  'storage/src/log/folder-lock.ts',
  'storage/src/fs.ts',
  'storage/src/blobs/blob-bytes.ts',
  'storage/src/contract/blob-contract.ts',
  'storage/src/blobs.ts',
  'storage/src/contract/contract-case.ts',
  'storage/src/contract/kv-contract.ts',
  'storage/src/contract/rate-limiter-contract.ts',
  'storage/src/contract/kv-contract-lists.ts',
  'storage/src/contract/kv-contract-sums.ts',
  'providers/src/upstream/content-encoding.ts',
  'providers/src/remote-content.ts',
  'providers/src/testing/fake-upstream.ts',
  'turnpike/src/',
]

/** The paths of the files below a folder that are not made by a build or an installation. */
const filesBelow = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isFile()) return [path]
    return entry.isDirectory() && !/^(\.|node_modules$|dist$)/.test(entry.name) ? filesBelow(path) : []
  })

const sources = (name: string): string[] =>
  filesBelow(`packages/${name}/src`).filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.test.ts'))

const importsOf = (path: string): string[] =>
  [...readFileSync(join(root, path), 'utf8').matchAll(/(?:from |import\(|^import )'([^']+)'/gm)].map(
    (match) => match[1]!,
  )

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

it('has an entry in the table for each package', () => {
  expect(published.toSorted()).toEqual(Object.keys(arrows).toSorted())
})

it('has a changeset for each package that was not released yet', () => {
  const folder = join(root, '.changeset')
  const changesets = readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
  const missing = published.filter((name) => {
    const { version } = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as Manifest
    return version === '0.0.0' && !changesets.some((text) => text.includes(`'${nameOf(name)}':`))
  })
  expect(missing).toEqual([])
})

describe.each(published)('package %s', (name) => {
  const folder = join(root, 'packages', name)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  // Sources are for other packages of this repository, and not published.
  const isSource = (target: unknown): boolean => typeof target === 'string' && target.startsWith('./src/')
  const entries = Object.entries(manifest.exports).filter(
    ([subpath, target]) => subpath !== './package.json' && !isSource(target),
  )

  it('declares and imports only allowed packages', () => {
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    expect(declared.filter((dependency) => !arrows[name]!.includes(dependency))).toEqual([])
    const wrong = sources(name).flatMap((path) =>
      importsOf(path)
        .filter((specifier) => !/^(page:)?\./.test(specifier) && !bundled[name]?.includes(packageOf(specifier)))
        .filter((specifier) =>
          specifier.startsWith('node:')
            ? !nodeFiles.some((known) => path.startsWith(`packages/${known}`))
            : !declared.includes(packageOf(specifier)) || (specifier === 'undici' && !path.endsWith('/undici.ts')),
        )
        .map((specifier) => `${path} imports ${specifier}`),
    )
    expect(wrong).toEqual([])
  })

  it('has a README that says how to install it, how to begin, and what it needs', () => {
    const readme = readFileSync(join(folder, 'README.md'), 'utf8')
    const parts = [
      `# ${manifest.name}\n`,
      `\`\`\`sh\nnpm install ${manifest.name}`,
      '```ts\n',
      '| Entry | Content |',
      '| Dependencies | ',
      '| Size | ',
      '| Runtimes | Node ≥ 20.19.2, Bun',
      '| Licence | MIT |',
    ]
    const places = parts.map((part) => readme.indexOf(part))
    expect(places).not.toContain(-1)
    expect(places).toEqual(places.toSorted((a, b) => a - b))

    const shown = [...readme.matchAll(new RegExp(`^\\| \`(${manifest.name}(?:/[^\`]+)?)\` \\|`, 'gm'))].map(
      ([, entry]) => entry,
    )
    expect(shown.toSorted()).toEqual(entries.map(([subpath]) => manifest.name + subpath.slice(1)).toSorted())
    const [, dependencies] = /^\| Dependencies \| ([^;]*?)(?:; | \|)/m.exec(readme)!
    const declared = Object.keys(manifest.dependencies ?? {}).map((dependency) => `\`${dependency}\``)
    expect(dependencies!.split(', ').toSorted()).toEqual(declared.length > 0 ? declared.toSorted() : ['none'])
  })

  it.runIf(name in bundled)('imports nothing of what it bundles once it is built', () => {
    const built = readdirSync(join(folder, 'dist')).filter((file) => file.endsWith('.js'))
    // The texts of pages are one line each, so that what begins a line is the module's own.
    const imports = /^(?:import|export)\b[^'"`;=]*["']([^"']+)["']/gm
    const imported = built.flatMap((file) => [...readFileSync(join(folder, 'dist', file), 'utf8').matchAll(imports)])
    const undeclared = imported
      .map(([, specifier]) => specifier!)
      .filter((specifier) => !/^(\.|node:)/.test(specifier) && !(packageOf(specifier) in { ...manifest.dependencies }))
    expect(undeclared).toEqual([])
  })

  it('names the modules of Node by node: once it is built, as Workers and Deno do', () => {
    const built = readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' })
    const bare = built
      .filter((file) => file.endsWith('.js'))
      .flatMap((file) => [...readFileSync(join(folder, 'dist', file), 'utf8').matchAll(/(?:from |import\()"([^"]+)"/g)])
      .map(([, specifier]) => specifier!)
      .filter((specifier) => builtinModules.includes(specifier))
    expect(bare).toEqual([])
  })

  it('exports existing files, built and published alike', async () => {
    const { default: builds } = (await import(join(folder, 'tsup.config.ts'))) as {
      default: { entry: string[]; bundle?: boolean } | [{ entry: string[]; bundle?: boolean }]
    }
    const [build] = [builds].flat()
    const code = entries.filter(([, target]) => typeof target === 'object')
    const commands = Object.values(manifest.bin ?? {})
    for (const command of commands)
      expect(readFileSync(join(folder, command), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
    const programs = commands.map((command) => command.replace(/^\.\/dist\/(.*)\.js$/, 'src/$1.ts'))
    // Without a bundle, each source is a file.
    if (build!.bundle !== false)
      expect(build!.entry.toSorted()).toEqual([...code.map(([, target]) => sourceOf(target)), ...programs].toSorted())
    const published: Record<string, unknown> = { './package.json': './package.json' }
    for (const [subpath, target] of entries) {
      if (typeof target === 'string') {
        expect(existsSync(join(folder, target)), target).toBe(true)
        published[subpath] = target
        continue
      }
      const { '@turnpike/source': source, ...rest } = target
      for (const file of [source!, ...Object.values(rest)]) expect(existsSync(join(folder, file)), file).toBe(true)
      published[subpath] = rest
    }
    expect(manifest.publishConfig.exports).toEqual(published)
    expect(manifest).toMatchObject({ license: 'MIT', type: 'module', sideEffects: false, files: ['dist'] })
    expect(existsSync(join(folder, 'README.md'))).toBe(true)
  })
})

it('what a worker takes of the packages imports no module of Node when it is loaded', async () => {
  const doors = ['azure', 'bedrock', 'presets', 'vertex', 'testing'].map((door) => `providers/${door}`)
  const entries = ['gateway', 'platform', 'providers', ...doors, 'storage/open-kv', 'agent', 'client']
  const { metafile } = await build({
    stdin: {
      contents: entries.map((name) => `export * from '@turnpike/${name}'`).join('\n'),
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    external: ['node:*'],
    metafile: true,
    write: false,
    logLevel: 'error',
  })
  const [{ imports }] = Object.values(metafile.outputs) as [(typeof metafile.outputs)[string]]
  expect(imports.filter(({ kind }) => kind === 'import-statement')).toEqual([])
})

it('keeps every file under 400 lines', () => {
  const long = ['packages', 'examples', 'test', '.ci']
    .flatMap(filesBelow)
    // What is generated is as long as it is.
    .filter((path) => /\.(ts|mjs|js)$/.test(path) && !path.startsWith('packages/client/src/api/'))
    .map((path) => [path, readFileSync(join(root, path), 'utf8').split('\n').length] as const)
    .filter(([, lines]) => lines > 400)
  expect(long).toEqual([])
})

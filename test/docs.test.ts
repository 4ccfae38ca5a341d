import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { documentFile } from './support/contract.js'
import { blocksOf, readPage } from './support/page.js'
import { needs, testAll } from './support/needs.js'
import { typeCheck } from './support/type-check.js'

const root = fileURLToPath(new URL('..', import.meta.url))

const readmesIn = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .map((name) => `${folder}/${name}/README.md`)
    .filter((path) => existsSync(join(root, path)))
const readmes = ['README.md', ...readmesIn('packages')]
const pages = [
  ...readmes,
  ...readmesIn('examples'),
  'test/bench/README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('reference'))
    .map((name) => `docs/${name}`),
]

/** The tests that run the blocks of a page in one language. */
const elsewhere: Record<string, string> = {
  'README.md sh': '.ci/readme.mjs',
  'README.md js': '.ci/readme.mjs',
  'docs/admin.md json': 'test/docs-admin.test.ts',
  'docs/agents.md sh': 'test/docs-agents.test.ts',
  'docs/admin.md text': 'test/docs-admin.test.ts',
  'docs/configuration.md text': 'test/docs-configuration.test.ts',
  'docs/conformance.md text': 'test/conformance/kit.test.ts',
  'docs/deployment.md caddy': 'test/deployment/reverse-proxy.ts',
  'docs/deployment.md haproxy': 'test/deployment/reverse-proxy.ts',
  'docs/deployment.md ini': 'test/deployment/release.test.ts',
  'docs/deployment.md nginx': 'test/deployment/reverse-proxy.ts',
  'docs/moving-from-litellm.md text': 'test/docs-moving.test.ts',
  'docs/moving-from-litellm.md yaml': 'test/docs-moving.test.ts',
  'docs/moving-from-portkey.md yaml': 'test/docs-moving.test.ts',
  'docs/openapi.md ts': 'test/openapi/client.test.ts',
  'docs/platform.md sh': 'test/docs-platform.test.ts',
  'docs/pricing.md ts': 'test/docs-pricing.test.ts',
  'docs/providers.md ts': 'test/provider-page.test.ts',
  'docs/routing.md ts': 'test/docs-routing.test.ts',
}

/** All fenced blocks. */
const blocks = pages.flatMap((page) =>
  [...readPage(page).matchAll(/^ *```(\S*)[^\n]*\n([^]*?)^ *```$/gm)].map(([, language, code], i) => ({
    page,
    name: `${page}, block ${i + 1} (${language})`,
    language: language!,
    code: code!,
  })),
)

/** The scripts of the package in a folder. */
function scriptsIn(folder: string): string[] {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) return []
  return Object.keys((JSON.parse(readFileSync(file, 'utf8')) as { scripts?: object }).scripts ?? {})
}

/** The scripts and programs that shell lines name and that are neither in the root nor beside the page. Throws where a shell cannot read them. */
function missingIn(code: string, page: string): string[] {
  execFileSync('bash', ['-n'], { input: code, stdio: ['pipe', 'ignore', 'pipe'] })
  const folders = [root, join(root, dirname(page))]
  const scripts = folders.flatMap(scriptsIn)
  const named = [...code.matchAll(/\bnpm (?:run (?:-s )?([\w:]+)|(start|test)\b)/g)].map(
    ([, script, own]) => script ?? own!,
  )
  const programs = [...code.matchAll(/\bnode ([\w./-]+\.m?js)\b/g)].map(([, file]) => file!)
  return [
    ...named.filter((script) => !scripts.includes(script)),
    ...programs.filter((file) => !folders.some((folder) => existsSync(join(folder, file)))),
  ]
}

/** The checks of the blocks of a language, wherever they are. They return what is wrong, or throw. */
const checks: Record<string, (code: string, page: string) => string[]> = {
  // All at once, below.
  ts: () => [],
  sh: missingIn,
  json(code) {
    JSON.parse(code)
    return []
  },
  yaml(code) {
    parse(code)
    return []
  },
  // The addresses of ours in pages of others.
  html(code) {
    const { paths } = JSON.parse(readFileSync(documentFile, 'utf8')) as { paths: object }
    return [...code.matchAll(/["'](\/v1\/[^"']*)["']/g)].map(([, path = '']) => path).filter((path) => !(path in paths))
  },
}

it.each(blocks.filter(({ page, language }) => !(`${page} ${language}` in elsewhere)))(
  'has a check for $name',
  ({ page, language, code }) => {
    // Another language needs a check above, or a test of its own.
    expect(Object.keys(checks)).toContain(language)
    expect(checks[language]!(code, page)).toEqual([])
  },
)

it('the tests that run blocks elsewhere name their page', () => {
  for (const [block, test] of Object.entries(elsewhere)) {
    const [page = '', language] = block.split(' ')
    expect(blocks.filter((one) => one.page === page && one.language === language)).not.toEqual([])
    expect(readPage(test)).toContain(page.replace('docs/', ''))
  }
})

/** Programs of the READMEs for hosts that have packages of their own: test/consumers compiles and runs them. */
const programs = [
  'examples/embed-express/gateway.ts',
  'examples/embed-express/main.ts',
  'examples/embed-hono/main.ts',
  'examples/embed-next/app/v1/[...path]/route.ts',
  'test/consumers/bun/main.ts',
  'test/consumers/fastify/main.ts',
  'test/consumers/hattip/main.ts',
  'test/consumers/node/main.ts',
  'test/consumers/node-server/main.ts',
  'test/consumers/node-server/tls.ts',
  'test/consumers/turnpike/main.ts',
].map(readPage)

it('the READMEs show the program of each host as test/consumers compiles it', () => {
  const shown = readmes.flatMap((page) => blocksOf(readPage(page), 'ts'))
  expect(programs.filter((program) => !shown.includes(program))).toEqual([])
})

it('the examples for Express and Hono have the same gateway and platform', () => {
  for (const file of ['gateway.ts', 'platform.ts'])
    expect(readPage(`examples/embed-hono/${file}`)).toBe(readPage(`examples/embed-express/${file}`))
})

it('the TypeScript examples type-check', needs(testAll), () => {
  // That of openapi.md has types that are generated.
  const examples = blocks
    .filter(({ page, language, code }) => language === 'ts' && page !== 'docs/openapi.md' && !programs.includes(code))
    .map(({ name, code }) => [`${name.replaceAll(/[^\w.]+/g, '-')}.ts`, code] as const)
  expect(examples.length).toBeGreaterThanOrEqual(readmes.length)
  // What other examples of its README import.
  const [platform] = blocksOf(readPage('packages/platform/README.md'), 'ts')
  typeCheck('readme-blocks', { 'platform.ts': platform!, ...Object.fromEntries(examples) })
})

it('every file named in the READMEs and in docs/map.md exists', () => {
  const missing = [...readmes, 'docs/map.md'].flatMap((page) => {
    const folder = page.startsWith('packages/') ? join(root, page, '../src') : root
    return readPage(page)
      .split('\n')
      .flatMap((line) => {
        /** Where a file stands that is named without its folder: beside one that has it, or in it. */
        let near = [folder]
        return [...line.matchAll(/`([a-z\d-]+(?:\/[a-z\d-]+)*(?:\.tsx?|\.css|\/))`/g)]
          .map(([, path]) => path!)
          .filter((path) => {
            // A name alone stands for one of several, such as `conventions.ts`.
            if (!path.includes('/')) return false
            const found = [folder, ...near].map((one) => join(one, path)).find((one) => existsSync(one))
            if (path.slice(0, -1).includes('/')) near = [join(folder, path), join(folder, path, '..')]
            return found === undefined
          })
          .map((path) => `${page}: ${path}`)
      })
  })
  expect(missing).toEqual([])
})

it('every link between pages leads to a file, and to a heading of it', () => {
  const anchorOf = (heading: string): string =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\d _-]/gu, '')
      .replaceAll(' ', '-')
  const broken = pages.flatMap((page) =>
    [...readPage(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)/g)].flatMap(([link, path, anchor]) => {
      const target = path === '' ? page : join(dirname(page), path!)
      if (!existsSync(join(root, target))) return [`${page}: ${link}`]
      if (anchor === undefined) return []
      const headings = [...readPage(target).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading!))
      return headings.includes(anchor) ? [] : [`${page}: ${link}`]
    }),
  )
  expect(broken).toEqual([])
})

it('README.md has at most 120 lines', () => {
  expect(readPage('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(120)
})

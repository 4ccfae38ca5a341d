import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { typeCheck } from './support/type-check.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const readmes = ['README.md', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/README.md`)]

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The TypeScript blocks of a page. */
const blocksOf = (page: string): string[] => [...read(page).matchAll(/^```ts\n([^]*?)^```/gm)].map((match) => match[1]!)

// These have their own tests: provider-page.test.ts, openapi/client.test.ts.
const others = ['providers.md', 'openapi.md']
const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md') && !others.includes(name))

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
].map(read)

it('the READMEs show the program of each host as test/consumers compiles it', () => {
  const shown = readmes.flatMap(blocksOf)
  expect(programs.filter((program) => !shown.includes(program))).toEqual([])
})

it('the examples for Express and Hono have the same gateway and platform', () => {
  for (const file of ['gateway.ts', 'platform.ts'])
    expect(read(`examples/embed-hono/${file}`)).toBe(read(`examples/embed-express/${file}`))
})

it('the TypeScript examples of the READMEs and of docs type-check', () => {
  const [platform] = blocksOf('packages/platform/README.md')
  const blocks = [...readmes, ...pages.map((name) => `docs/${name}`)]
    .flatMap((page) => blocksOf(page).map((code, i) => [`${page.replaceAll('/', '-')}-${i}.ts`, code] as const))
    .filter(([, code]) => !programs.includes(code))
  expect(blocks.length).toBeGreaterThanOrEqual(readmes.length)
  // What other examples of its README import.
  typeCheck('readme-blocks', { 'platform.ts': platform!, ...Object.fromEntries(blocks) })
})

it('every file named in the READMEs and in docs/map.md exists', () => {
  const missing = [...readmes, 'docs/map.md'].flatMap((page) => {
    const isRoot = !page.startsWith('packages/')
    const folder = isRoot ? root : join(root, page, '../src')
    return (
      [...read(page).matchAll(/`([a-z\d-]+(?:\/[a-z\d-]+)*(?:\.ts|\/))`/g)]
        .map((match) => match[1]!)
        // Pages of the root name a file without its folder only beside one that has it.
        .filter((path) => !isRoot || path.includes('/'))
        .filter((path) => !existsSync(join(folder, path)))
        .map((path) => `${page}: ${path}`)
    )
  })
  expect(missing).toEqual([])
})

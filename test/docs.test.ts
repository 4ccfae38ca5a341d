import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const readmes = ['README.md', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/README.md`)]

/** The TypeScript blocks of a page. */
const blocksOf = (page: string): string[] =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^```ts\n([^]*?)^```/gm)].map((match) => match[1]!)

it('type-checks every TypeScript block of the READMEs and of five pages', { timeout: 60_000 }, () => {
  const blocks = [
    ...readmes,
    'docs/pricing.md',
    'docs/routing.md',
    'docs/storage.md',
    'docs/blobs.md',
    'docs/books.md',
    'docs/admin.md',
  ].flatMap((page) => blocksOf(page).map((code, i) => [`${page.replaceAll('/', '-')}-${i}.ts`, code] as const))
  expect(blocks.length).toBeGreaterThanOrEqual(readmes.length)
  const folder = join(root, 'test', '.readme-blocks')
  mkdirSync(folder, { recursive: true })
  try {
    for (const [name, code] of blocks) writeFileSync(join(folder, name), `${code}\nexport {}\n`)
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: '../../tsconfig.base.json',
        compilerOptions: { noUnusedLocals: false },
        include: ['*.ts'],
      }),
    )
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' })
  } catch (error) {
    throw new Error((error as { stdout?: string }).stdout ?? String(error), { cause: error })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it('names only files that exist in the tables of the READMEs', () => {
  const missing = readmes.flatMap((page) => {
    const folder = page === 'README.md' ? root : join(root, page, '../src')
    return (
      [...readFileSync(join(root, page), 'utf8').matchAll(/`((?:packages\/)?[a-z-]+(?:\/[a-z-]+)*(?:\.ts|\/))`/g)]
        .map((match) => match[1]!)
        // The root README names a file without its folder only beside one that has it.
        .filter((path) => page !== 'README.md' || path.includes('/'))
        .filter((path) => !existsSync(join(folder, path)))
        .map((path) => `${page}: ${path}`)
    )
  })
  expect(missing).toEqual([])
})

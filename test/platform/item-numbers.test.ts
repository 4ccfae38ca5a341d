import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/** The items of platform.md 2.3. */
const ITEMS = Array.from({ length: 190 }, (_, i) => 1 + i)

it('has a test for each item', () => {
  const here = new URL('.', import.meta.url)
  const titles = readdirSync(here)
    .filter((name) => name.endsWith('.test.ts'))
    .flatMap((name) => [
      ...readFileSync(new URL(name, here), 'utf8').matchAll(
        /^\s*(?:it|it\.each\(.*\)|it\.skipIf\(runtime === 'bun'\)|describe)\(['"]#(\d+) /gm,
      ),
    ])
  const numbers = titles.map(([, number]) => Number(number)).toSorted((one, other) => one - other)
  expect(numbers).toEqual(ITEMS)
})

/** The threats of platform.md 4, but for open redirects (24): docs/security.md says why. */
const THREATS = [...Array.from({ length: 32 }, (_, i) => 1 + i).filter((number) => number !== 24), 36, 37]

it('has a test for each threat', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const sources = ['test', ...readdirSync(`${root}packages`).map((name) => `packages/${name}/src`)].flatMap((folder) =>
    readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
      .map((name) => `${root}${folder}/${name}`),
  )
  const found = sources.flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/\(\s*['`]threat (\d+): /g)])
  expect([...new Set(found.map(([, number]) => Number(number)))].toSorted((a, b) => a - b)).toEqual(THREATS)
})

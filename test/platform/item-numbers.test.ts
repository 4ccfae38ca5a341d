import { readdirSync, readFileSync } from 'node:fs'
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

/** The threats of platform.md 4 that concern what the platform has so far. */
const THREATS = [6, 7, 12, 16, 17, 18, 19, 21, 22, 25, 26]

it('has a test for each threat', () => {
  const here = new URL('.', import.meta.url)
  const found = readdirSync(here)
    .filter((name) => name.endsWith('.test.ts'))
    .flatMap((name) => [...readFileSync(new URL(name, here), 'utf8').matchAll(/\(\s*'threat (\d+): /g)])
  expect([...new Set(found.map(([, number]) => Number(number)))].toSorted((a, b) => a - b)).toEqual(THREATS)
})

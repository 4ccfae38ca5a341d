import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** The cases of wire-formats.md, section 6. */
const CASES = 105

it('has one test for each case', () => {
  const here = new URL('.', import.meta.url)
  const titles = readdirSync(here).flatMap((name) => [
    ...readFileSync(new URL(name, here), 'utf8').matchAll(/^\s*(it[^'"`#]*)\(['"`]#(\d+) /gm),
  ])
  // A case that is skipped or known to fail is none.
  expect(titles.map(([, call]) => call).filter((call) => call !== 'it')).toEqual([])
  const numbers = titles.map(([, , number]) => Number(number)).toSorted((one, other) => one - other)
  expect(numbers).toEqual(Array.from({ length: CASES }, (_, at) => at + 1))
})

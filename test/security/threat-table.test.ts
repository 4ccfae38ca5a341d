import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { readPage } from '../support/page.js'

/** The rows of docs/security.md, but for open redirects (24): the row says why. */
const threats = [...readPage('docs/security.md').matchAll(/^\| (\d+(?:, \d+)*) \|/gm)]
  .flatMap(([, numbers]) => numbers!.split(', ').map(Number))
  .filter((number) => number !== 24)

it('has a test for each threat', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const sources = ['test', ...readdirSync(`${root}packages`).map((name) => `packages/${name}/src`)].flatMap((folder) =>
    readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !/node_modules|(^|\/)\./.test(name))
      .map((name) => `${root}${folder}/${name}`),
  )
  const found = sources.flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/\(\s*['`]threat (\d+): /g)])
  expect([...new Set(found.map(([, number]) => Number(number)))].toSorted((a, b) => a - b)).toEqual(threats)
})

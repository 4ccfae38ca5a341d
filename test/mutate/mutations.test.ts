import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { mutations } from './mutations.mjs'

const root = new URL('../../', import.meta.url)

it.each(mutations)('the line of $name is in its file, once, and its test is there', ({ file, line, test }) => {
  expect(readFileSync(new URL(file, root), 'utf8').split(line)).toHaveLength(2)
  expect(existsSync(new URL(test, root))).toBe(true)
})

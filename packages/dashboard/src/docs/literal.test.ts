import { describe, expect, it } from 'vitest'
import { call, code, literal } from './literal.js'

/** What the program is, that a literal stands in. */
const run = (text: string): unknown => new Function(`return (${text})`)() as unknown

describe('literal', () => {
  it.each([
    [{ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello!' }], n: 1, stop: null, stream: true }],
    [{ 'a-b': `'"\\ \n\u2028\${x}`, "it's": '\\"', __proto: [] }],
    [{ long: Array.from({ length: 9 }, (_, i) => ({ name: `item ${i}`, deep: { deeper: [i, {}] } })) }],
    ['text'],
    [[]],
  ])('is a program that makes the value', (value) => {
    expect(run(literal(value))).toEqual(value)
  })

  it('is one line where that is short enough', () => {
    expect(literal({ a: 1, b: ['x'] })).toBe("{ a: 1, b: ['x'] }")
    expect(literal({ a: 'x'.repeat(60) })).toBe(`{\n  a: '${'x'.repeat(60)}',\n}`)
  })

  it('leaves out what is undefined, and shortens a property of its own name', () => {
    expect(literal({ a: undefined, id: code('id'), token: code('process.env.TOKEN!') })).toBe(
      '{ id, token: process.env.TOKEN! }',
    )
  })
})

it('call leaves out an object without properties', () => {
  expect(call('send', '/a', { query: undefined })).toBe("send('/a')")
  expect(call('send')).toBe('send()')
  expect(call('const answer = await client.send', '/a/long/path/of/a/resource', { body: { name: 'x' } })).toBe(
    "const answer = await client.send('/a/long/path/of/a/resource', {\n  body: { name: 'x' },\n})",
  )
})

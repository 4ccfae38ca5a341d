import { expect, it } from 'vitest'
import { redisItems } from './redis-items.js'

it('reads parts of items, and null where there is no such item', async () => {
  const asked: unknown[] = []
  const bytes = Buffer.from('abcdef')
  const none = async () => null
  const items = redisItems({
    get: none,
    set: none,
    unlink: none,
    scan: async () => ['0', []],
    getBuffer: async () => bytes,
    // As GETRANGE: both ends are included, and what is not there is empty.
    async getrangeBuffer(...args) {
      asked.push(args)
      const [key, start, end] = args
      return key === 'turnpike-files:a' ? bytes.subarray(start, end + 1) : Buffer.alloc(0)
    },
  })
  const read = async (key: string, start: number, end: number) => String(await items.getItemPart!(key, start, end))
  expect([await read('a', 1, 4), await read('a', 4, 9), await read('b', 0, 2)]).toEqual(['bcd', 'ef', 'null'])
  expect(asked[0]).toEqual(['turnpike-files:a', 1, 3])
  expect(await read('a', 3, Infinity)).toBe('def')
  expect(Number.isSafeInteger((asked.at(-1) as unknown[])[2])).toBe(true)
  expect(await items.getItemRaw!('a', {})).toBe(bytes)
})

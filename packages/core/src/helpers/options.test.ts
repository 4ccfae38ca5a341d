import * as v from 'valibot'
import { expect, it } from 'vitest'
import { checkFields, checkOptions } from './options.js'

interface Options {
  kv: object
  now?: () => number
}
const check = (options: unknown) => checkOptions('createThing', options as Options, { kv: true, now: false })

it('accepts what there is', () => {
  check({ kv: {}, now: Date.now })
  check({ kv: {}, now: undefined })
})

it.each<[options: unknown, message: string]>([
  [{}, 'createThing: the option "kv" is not set'],
  [{ kv: undefined }, 'createThing: the option "kv" is not set'],
  [{ kv: Promise.resolve() }, 'createThing: the option "kv" is a promise; await it'],
  [{ kv: {}, clock: 1 }, 'createThing: there is no option "clock"; there are kv, now'],
  [JSON.parse('{"kv":{},"__proto__":1}'), 'createThing: there is no option "__proto__"; there are kv, now'],
  [{ kv: {}, toString: 1 }, 'createThing: there is no option "toString"; there are kv, now'],
  [undefined, 'createThing: expected an object of options'],
  [null, 'createThing: expected an object of options'],
  ['kv', 'createThing: expected an object of options'],
])('refuses %j', (options, message) => expect(() => check(options)).toThrow(new TypeError(message)))

it.each<[given: unknown, message: string]>([
  [undefined, 'keep: expected an object with name, limit'],
  [{ name: 'a', limits: 1 }, 'keep: there is no field "limits"; there are name, limit'],
  [{ limit: 1 }, 'keep: name: Invalid key: Expected "name" but received undefined'],
  [{ name: 'a', limit: { usd: '1' } }, 'keep: limit.usd: Invalid type: Expected number but received "1"'],
])('refuses the fields %j', (given, message) =>
  expect(() =>
    checkFields<{ name: string; limit?: { usd: number } }>('keep', given as { name: string }, {
      name: v.string(),
      limit: v.optional(v.object({ usd: v.number() })),
    }),
  ).toThrow(new TypeError(message)),
)

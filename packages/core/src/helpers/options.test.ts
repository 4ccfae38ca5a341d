import { expect, it } from 'vitest'
import { checkOptions } from './options.js'

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
  [{ kv: {}, clock: 1 }, 'createThing: there is no option "clock"; there are kv, now'],
  [JSON.parse('{"kv":{},"__proto__":1}'), 'createThing: there is no option "__proto__"; there are kv, now'],
  [{ kv: {}, toString: 1 }, 'createThing: there is no option "toString"; there are kv, now'],
  [undefined, 'createThing: expected an object of options'],
  [null, 'createThing: expected an object of options'],
  ['kv', 'createThing: expected an object of options'],
])('refuses %j', (options, message) => expect(() => check(options)).toThrow(new TypeError(message)))

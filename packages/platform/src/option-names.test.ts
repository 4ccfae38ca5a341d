import { memoryKV } from '@turnpike/core'
import { expect, it } from 'vitest'
import { passwordAuth } from './identity/password-auth.js'
import { createPlatform } from './platform.js'

const kv = await memoryKV()
const identity = passwordAuth({ kv })

it.each<[options: object, message: string]>([
  [{ identity }, 'createPlatform: the option "kv" is not set'],
  [{ kv }, 'createPlatform: the option "identity" is not set'],
  [{ kv, identity, balances: 'off' }, 'createPlatform: there is no option "balances"; there are kv, identity, '],
])('wrong options are refused when the platform is made: %#', (options, message) => {
  expect(() => createPlatform(options as never)).toThrow(message)
})

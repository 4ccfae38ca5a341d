import { memoryKV } from '@turnpike/core'
import { createRouter, openai } from '@turnpike/providers'
import { expect, it } from 'vitest'
import { createGateway } from './gateway.js'

const router = createRouter({ providers: [openai({ apiKey: 'any' })] })
const kv = await memoryKV()

it.each<[options: object, message: string]>([
  [{ kv }, 'createGateway: the option "router" is not set'],
  [{ router }, 'createGateway: the option "kv" is not set'],
  [{ router, kv, heartbeat: 1 }, 'createGateway: there is no option "heartbeat"; there are router, kv, '],
])('wrong options are refused when the gateway is made: %#', (options, message) => {
  expect(() => createGateway(options as never)).toThrow(message)
})

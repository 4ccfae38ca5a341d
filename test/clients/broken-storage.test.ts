import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { KV } from '@turnpike/core'
import { createUser, memoryKV, StorageError } from '@turnpike/core'
import { createGateway } from '@turnpike/gateway'
import { createServer } from '@turnpike/http/node'
import { createRouter, openai } from '@turnpike/providers'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rejection } from '../support/failure.js'
import { uuidv7Pattern } from '../support/patterns.js'
import { kinds } from './kinds.js'
import { openaiClient } from './openai-client.js'

// In this process and so always on Node: the store breaks at will.

const upstream = fakeOpenAI()
const errors: unknown[] = []
let broken: Partial<KV> = {}
let server: Server
let url: string
let key: string
let before: number

const down = (): Promise<never> => Promise.reject(new StorageError('disk sda1 is on fire', 'none'))

beforeEach(async () => {
  broken = {}
  errors.length = 0
  before = upstream.requests.length
  const kv = await memoryKV()
  const gateway = createGateway({
    router: createRouter({ providers: [openai({ apiKey: 'any', transport: upstream.transport })] }),
    kv: {
      ...kv,
      get: (key) => (broken.get ?? kv.get)(key),
      commit: (commit) => (broken.commit ?? kv.commit)(commit),
    },
    onError: (error) => errors.push(error),
  })
  const user = await createUser(kv, {})
  key = (await gateway.keys.create(user!.id, { name: 'test' })).key
  server = createServer(gateway)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
})
afterEach(async () => {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

const asked = (): number => upstream.requests.length - before

describe.each(kinds.flatMap((kind) => [false, true].map((stream) => ({ ...kind, stream }))))(
  '$name with stream $stream',
  ({ connect, errorClass, describe: tell, stream }) => {
    const fail = (): Promise<unknown> => rejection(connect({ url, key }).ask({ text: 'Hello' }, { stream }))

    it('gets 503 where keys cannot be read, without the cause', async () => {
      broken.get = down
      const error = await fail()
      expect(error).toBeInstanceOf(errorClass(503))
      const { header: _, ...failure } = tell(error)
      expect(failure).toEqual({
        status: 503,
        type: 'server_error',
        code: 'storage_unavailable',
        message: 'The storage of the server cannot be used at the moment; try again later',
        requestId: expect.stringMatching(uuidv7Pattern) as string,
      })
      expect(errors).toEqual([expect.objectContaining({ message: 'disk sda1 is on fire' })])
      expect(asked()).toBe(0)
    })

    it('gets 500 before the upstream is called, once usage could not be recorded', async () => {
      broken.commit = down
      await fail()
      expect(asked()).toBe(1)
      const error = await fail()
      expect(error).toBeInstanceOf(errorClass(500))
      const { header: _, ...failure } = tell(error)
      expect(failure).toEqual({
        status: 500,
        type: 'server_error',
        code: 'ledger_unavailable',
        message: 'Usage cannot be recorded at the moment',
        requestId: expect.stringMatching(uuidv7Pattern) as string,
      })
      expect(asked()).toBe(1)
      broken = {}
      expect(await connect({ url, key }).ask({ text: 'Hello' }, { stream })).toMatchObject({ finish: 'stop' })
    })
  },
)

it.each([false, true])('gets an error where usage could not be recorded, with stream %s', async (stream) => {
  broken.commit = down
  const { connect, describe: tell } = openaiClient
  const error = await rejection(connect({ url, key }).ask({ text: 'Hello' }, { stream }))
  expect(tell(error)).toMatchObject({
    status: stream ? undefined : 500,
    type: 'server_error',
    code: 'ledger_unavailable',
    requestId: expect.stringMatching(uuidv7Pattern) as string,
  })
})

it('is told not to retry an answer whose usage could not be recorded', async () => {
  // The store fails once, so that a retry would be served.
  broken.commit = (commit) => {
    broken = {}
    void commit
    return down()
  }
  const client = openaiClient.connect({ url, key, maxRetries: 2 })
  await rejection(client.ask({ text: 'Hello' }, { stream: false }))
  expect(asked()).toBe(1)
})

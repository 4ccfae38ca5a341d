import { once } from 'node:events'
import type { RequestListener, Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createUser, memoryKV } from '@turnpike/core'
import type { Gateway } from '@turnpike/gateway'
import { createGateway } from '@turnpike/gateway'
import type { Transport } from '@turnpike/providers'
import { createRouter, openai } from '@turnpike/providers'
import type { FakeAnswer, FakeUpstream } from '@turnpike/providers/testing'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { catalogues } from '../support/catalogues.js'

/** Bytes that a body may have here. */
export const BODY_LIMIT = 2_000

/** The pace of bodies here: they may stand still for 750 ms, and thirty bytes make up for as much. */
export const PACE = { bodyIdleMs: 750, bodyBytesPerS: 40 }

/** What is asked. */
export const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello there' }] }

/** A gateway in this process, in front of a fake OpenAI. */
export interface Setup {
  gateway: Gateway
  key: string
  userId: string
  upstream: FakeUpstream
  /** Answers in place of the fake, until it is unset. */
  fault: FakeAnswer | undefined
  /** Stops an upstream that is called over HTTP. */
  close(): Promise<void>
}

/** Sets up; with a `transport`, the upstream is called through it over HTTP, else in process. */
export async function setUp(transport?: Transport): Promise<Setup> {
  const upstream = fakeOpenAI({ override: () => setup.fault })
  const served = transport && (await upstream.listen())
  const provider = openai({
    apiKey: 'any',
    transport: transport ?? upstream.transport,
    ...(served && { baseURL: `${served.url}/v1`, models: catalogues.openai }),
  })
  const kv = await memoryKV()
  const gateway = createGateway({
    router: createRouter({ providers: [provider] }),
    kv,
    bodyLimit: BODY_LIMIT,
    onClientAbort: 'cancel',
    ...PACE,
  })
  const user = await createUser(kv, { name: 'Owner' })
  const { key } = await gateway.keys.create(user.id, { name: 'test', rateLimit: 1_000_000 })
  const close = async (): Promise<void> => served?.close()
  const setup: Setup = { gateway, key, userId: user.id, upstream, fault: undefined, close }
  return setup
}

/** A host that serves. */
export interface Host {
  url: string
  close(): Promise<void>
}

/** Lets a server listen on a free port. */
export async function listen(server: Server): Promise<Host> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** Serves a request listener, such as an Express application. */
export const serve = (listener: RequestListener): Promise<Host> => listen(createServer(listener))

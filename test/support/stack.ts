import type { FakeAnswer, FakeRequest, FakeUpstream } from '@turnpike/providers/testing'
import { fakeOpenAI } from '@turnpike/providers/testing'
import type { Server } from './server.js'
import { startServer } from './server.js'

const UPSTREAM_KEY = 'sk-upstream-0123456789'

/** The reference server as a process, in front of a fake OpenAI in this one. */
export interface Stack {
  /** Base URL for clients, with `/v1`. */
  url: string
  key: string
  server: Server
  upstream: FakeUpstream
  /** Answers in place of the fake, until it is unset. */
  fault: ((request: FakeRequest) => FakeAnswer) | undefined
  stop(): Promise<void>
}

/** Starts both, with the server's variables of `env`. */
export async function startStack(env: Record<string, string> = {}): Promise<Stack> {
  const upstream = fakeOpenAI({ apiKey: UPSTREAM_KEY, override: (request) => stack.fault?.(request) })
  const { url, close } = await upstream.listen()
  const server = await startServer({ OPENAI_API_KEY: UPSTREAM_KEY, OPENAI_BASE_URL: `${url}/v1`, ...env })
  const stack: Stack = {
    url: `${server.url}/v1`,
    key: server.key,
    server,
    upstream,
    fault: undefined,
    async stop() {
      await server.stop()
      await close()
    },
  }
  return stack
}

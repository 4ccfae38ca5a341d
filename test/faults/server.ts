import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { RawUpstream } from '../support/raw-upstream.js'
import { rawUpstream } from '../support/raw-upstream.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

/** The reference server with every family's upstream at `url`. */
export const startServerFor = (url: string): Promise<Server> =>
  startServer({
    OPENAI_API_KEY: 'sk-upstream',
    OPENAI_BASE_URL: `${url}/v1`,
    ANTHROPIC_API_KEY: 'sk-ant-upstream',
    ANTHROPIC_BASE_URL: url,
    GEMINI_API_KEY: 'AIza-upstream',
    GEMINI_BASE_URL: `${url}/v1beta`,
  })

/** The reference server as a process, in front of an upstream that plays scripts; for all tests of a file. */
export function useServer(): { readonly server: Server; readonly upstream: RawUpstream } {
  let server: Server
  let upstream: RawUpstream
  beforeAll(async () => {
    upstream = await rawUpstream()
    server = await startServerFor(upstream.url)
  })
  beforeEach(() => {
    upstream.requests = 0
  })
  afterAll(async () => {
    await server.stop()
    await upstream.close()
  })
  return {
    get server() {
      return server
    },
    get upstream() {
      return upstream
    },
  }
}

import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { RawUpstream } from '../support/raw-upstream.js'
import { rawUpstream } from '../support/raw-upstream.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

/** The reference server as a process, in front of an upstream that plays scripts; for all tests of a file. */
export function useServer(): { readonly server: Server; readonly upstream: RawUpstream } {
  let server: Server
  let upstream: RawUpstream
  beforeAll(async () => {
    upstream = await rawUpstream()
    server = await startServer({ OPENAI_API_KEY: 'sk-upstream', OPENAI_BASE_URL: `${upstream.url}/v1` })
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

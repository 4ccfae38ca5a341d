import type { FakeAnswer, FakeRequest, FakeUpstream } from '@turnpike/providers/testing'
import { fakeAnthropic, fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'
import type { Script, VendorName } from './scripted-upstream.js'
import { scripted } from './scripted-upstream.js'

const apiKey = 'upstream-0123456789'

/** Models that differ in what they are sent. */
export const models: { model: string; vendor: VendorName }[] = [
  { model: 'gpt-4o-mini', vendor: 'openai' },
  { model: 'claude-sonnet-4-5', vendor: 'anthropic' },
  { model: 'claude-opus-4-8', vendor: 'anthropic' },
  { model: 'claude-sonnet-5', vendor: 'anthropic' },
  { model: 'claude-sonnet-5-5', vendor: 'anthropic' },
  { model: 'anthropic/claude-sonnet-4-20250514', vendor: 'anthropic' },
  { model: 'gemini-2.5-flash', vendor: 'google' },
  { model: 'google/gemini-3-flash-preview', vendor: 'google' },
]

/** The reference server as a process, in front of a fake of each vendor in this one. */
export interface FamiliesStack {
  /** Base URL for clients, with `/v1`. */
  url: string
  key: string
  server: Server
  upstreams: Record<VendorName, FakeUpstream>
  /** What the models say in place of the fakes, until it is unset. */
  script: Script | undefined
  /** Answers in place of script and fakes, until it is unset. */
  fault: ((request: FakeRequest) => FakeAnswer | undefined) | undefined
  stop(): Promise<void>
}

/** Starts all of them, with the server's variables of `env`. */
export async function startFamilies(env: Record<string, string> = {}): Promise<FamiliesStack> {
  const options = (name: VendorName) => ({
    apiKey,
    override: (request: FakeRequest) =>
      stack.fault?.(request) ?? (stack.script && scripted(name, request, stack.script)),
  })
  const upstreams = {
    openai: fakeOpenAI(options('openai')),
    anthropic: fakeAnthropic(options('anthropic')),
    google: fakeGoogle(options('google')),
  }
  const openai = await upstreams.openai.listen()
  const anthropic = await upstreams.anthropic.listen()
  const google = await upstreams.google.listen()
  const server = await startServer({
    OPENAI_API_KEY: apiKey,
    OPENAI_BASE_URL: `${openai.url}/v1`,
    ANTHROPIC_API_KEY: apiKey,
    ANTHROPIC_BASE_URL: anthropic.url,
    GEMINI_API_KEY: apiKey,
    GEMINI_BASE_URL: `${google.url}/v1beta`,
    ...env,
  })
  const stack: FamiliesStack = {
    url: `${server.url}/v1`,
    key: server.key,
    server,
    upstreams,
    script: undefined,
    fault: undefined,
    async stop() {
      await server.stop()
      await Promise.all([openai.close(), anthropic.close(), google.close()])
    },
  }
  return stack
}

import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { Tool } from '@turnpike/agent'
import { mcpTools } from '@turnpike/agent/mcp'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { scriptedTask } from '../support/agent.js'
import { runtimePath } from '../support/runtime.js'

const server = fileURLToPath(new URL('mcp-server.mjs', import.meta.url))

let client: Client
let tools: Tool[]
beforeAll(async () => {
  client = new Client({ name: 'tests', version: '1.0.0' })
  await client.connect(new StdioClientTransport({ command: runtimePath(), args: [server] }))
  tools = await mcpTools(client, { prefix: 'my_' })
})
afterAll(() => client.close())
afterEach(() => void vi.useRealTimers())

const { signal } = new AbortController()
const call = (name: string, args: object = {}) =>
  tools.find((one) => one.name === `my_${name}`)!.run(args as never, { signal }) as Promise<string>

it('a model is offered the tools of a server, of all pages, and told what they return', async () => {
  const names = ['add', 'draw', 'refuse', 'throw']
  const input = { a: 20, b: 22 }
  const at = await scriptedTask((results) =>
    results.length > 0
      ? { text: results.join('\n'), calls: [] }
      : { text: '', calls: names.map((name) => ({ id: name, name: `my_${name}`, input })) },
  )
  expect(await at.run({ tools })).toMatchObject({ status: 'done' })
  expect((await at.read()).output!.split('\n')).toEqual([
    '42',
    'A map',
    '[image]',
    'It failed: The disk is full',
    expect.stringMatching(/^It failed: .*There is no file a\.txt/),
  ])
  const { body } = at.upstream.requests[0]!
  const { tools: offered } = body as { tools: { function: { name: string; description: string } }[] }
  expect(offered.map((one) => one.function.name)).toEqual(tools.map(({ name }) => name))
  expect(offered[0]).toMatchObject({
    function: { description: 'Can add', parameters: { type: 'object', required: ['a', 'b'] } },
  })
})

it('a call that takes too long is cancelled at the server', async () => {
  const before = Number(await call('count'))
  const at = await scriptedTask((results) => ({
    text: results.join(),
    calls: results.length === 0 ? [{ id: 'a', name: 'my_wait', input: {} }] : [],
  }))
  const output = 'It failed: my_wait took longer than 0.2 seconds'
  expect(await at.run({ tools: tools.map((tool) => ({ ...tool, seconds: 0.2 })) })).toMatchObject({ task: { output } })
  await expect.poll(async () => Number(await call('count'))).toBe(before + 1)
})

it('how long a call may take is said by the tool alone', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const controller = new AbortController()
  let ended = false
  const waiting = tools.find(({ name }) => name === 'my_wait')!.run({} as never, controller) as Promise<string>
  const told = waiting.catch((error: Error) => ((ended = true), error.message))
  await vi.advanceTimersByTimeAsync(600_000)
  expect(ended).toBe(false)
  controller.abort('Enough')
  expect(await told).toContain('Enough')
})

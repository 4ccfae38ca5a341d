import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { afterEach, expect, it, vi } from 'vitest'
import { lookUp, scriptedTask, weather } from '../../../test/support/agent.js'
import { answer, chunk, streamed } from '../../../test/support/gateway.js'
import type { Call as Asked, Script } from '../../../test/clients/scripted-upstream.js'
import type { AgentEvent, StandardSchema, Tool } from './index.js'
import { mcpTools } from './mcp.js'

afterEach(() => void vi.useRealTimers())

const calls = (...asked: Partial<Asked>[]): Script => {
  const all = asked.map((one, i) => ({ id: `${i}`, name: 'look_up_weather', input: { city: 'Oslo' }, ...one }))
  return (results) => (results.length === 0 ? { text: '', calls: all } : { text: 'Done', calls: [] })
}
/** What the model was told of its calls, and the events of these. */
async function toldOf(script: Script, options: Parameters<Awaited<ReturnType<typeof scriptedTask>>['run']>[0]) {
  const at = await scriptedTask(script)
  expect(await at.run(options)).toMatchObject({ status: 'done' })
  const messages = at
    .chats()
    .at(-1)!
    .filter(({ role }) => role === 'tool')
  const types = new Set<AgentEvent['type']>(['call', 'allowed', 'refused', 'result'])
  return {
    told: messages.map(({ tool_call_id, content }) => [tool_call_id, content]),
    events: at.events.filter(({ type }) => types.has(type)),
  }
}

it('all calls of a turn are answered, in their order, whatever becomes of each', async () => {
  const { tool, asked } = lookUp((city) => {
    if (city === 'Rome') throw new Error('No such city')
    return { city, warm: true }
  })
  const script = calls(
    { input: { city: 'Lima' } },
    { name: 'other' },
    { input: {} },
    { input: { city: 'Rome' } },
    { input: { city: 'Bonn' } },
  )
  const approve = ({ args }: { args: unknown }) => (args as { city: string }).city !== 'Bonn' || 'Ask me tomorrow'
  const { told, events } = await toldOf(script, { tools: [tool], approve })
  expect(told).toEqual([
    ['call_0', '{"city":"Lima","warm":true}'],
    ['call_1', 'There is no tool other'],
    ['call_2', 'The arguments need city'],
    ['call_3', 'It failed: No such city'],
    ['call_4', 'This call was refused: Ask me tomorrow'],
  ])
  expect(asked).toEqual(['Lima', 'Rome'])
  expect(events.map(({ type }) => type).join(' ')).toBe(
    'call allowed result refused refused call allowed result call refused',
  )
})

it('threat 100: no call is run unless it was approved, whatever a page or file told the model', async () => {
  const { tool, asked } = lookUp()
  for (const approve of [undefined, 'never', () => false, async () => ''] as const) {
    const { told } = await toldOf(weather, { tools: [tool], approve: approve as never })
    expect(told).toEqual([['call_a', 'This call was refused']])
  }
  expect(asked).toEqual([])
})

it('threat 115: two tools of one name are refused, so that no call gets to another tool than the approved one', async () => {
  const [own, other] = [lookUp(), lookUp()]
  const at = await scriptedTask(weather)
  const reason = 'Two tools have the name look_up_weather'
  expect(await at.run({ tools: [other.tool, own.tool] })).toMatchObject({ status: 'failed', reason })
  expect([own.asked, other.asked]).toEqual([[], []])
})

it('threat 115: an answer makes a hundred calls, and of a result the model is told a part', async () => {
  const { tool, asked } = lookUp((city) => (city === 'Lima' ? 'x'.repeat(262_200) : 'Sunny'))
  const script = calls({ input: { city: 'Lima' } }, ...Array.from({ length: 100 }, () => ({})))
  const { told } = await toldOf(script, { tools: [tool], approve: 'always' })
  expect(asked).toHaveLength(100)
  expect(told[0]![1]).toBe(`${'x'.repeat(262_144)}\n[56 more characters]`)
  expect(told[100]![1]).toBe('An answer may make 100 calls')
})

it('threat 115: tools of an MCP server whose arguments are no object are left out, and none has a schema that checks', async () => {
  const schemas = [null, 'x', { type: 'string' }, { type: 'object', '~standard': {}, required: ['a'] }]
  const client = {
    listTools: async () => ({ tools: schemas.map((schema, i) => ({ name: `t${i}`, inputSchema: schema as never })) }),
    callTool: async () => ({ content: [{ type: 'text', text: 'Done' }] }),
  }
  const tools = await mcpTools(client)
  expect(tools.map(({ name, parameters }) => [name, parameters])).toEqual([['t3', { type: 'object', required: ['a'] }]])
  const { told } = await toldOf(calls({ name: 't3', input: { a: 1 } as never }), { tools })
  expect(told).toEqual([['call_0', 'Done']])
})

it('threat 115: tools of an MCP server that no provider takes are left out', async () => {
  let deep: object = { type: 'string' }
  for (let i = 0; i < 20; i++) deep = { type: 'object', properties: { a: deep } }
  let deeper: object = {}
  for (let i = 0; i < 50_000; i++) deeper = { type: 'object', a: deeper }
  const object = { type: 'object' }
  const wrong = [
    { name: 'a b', inputSchema: object },
    { inputSchema: object },
    null,
    { name: Object.create(null), inputSchema: object },
    { name: 'p1', inputSchema: { ...object, properties: null } },
    { name: 'p2', inputSchema: { ...object, properties: [] } },
    { name: 'p3', inputSchema: { ...object, required: [1] } },
    { name: 'a'.repeat(63), inputSchema: object },
    { name: 't1', inputSchema: object, description: {} },
    { name: 't2', inputSchema: object, description: 'd'.repeat(70_000) },
    { name: 't3', inputSchema: { ...object, properties: 5 } },
    { name: 't4', inputSchema: { ...object, required: 'a' } },
    { name: 't5', inputSchema: deep },
    { name: 't6', inputSchema: deeper },
  ]
  const right = { name: 'a'.repeat(62), inputSchema: { ...object, title: '{"['.repeat(50) } }
  const client = { listTools: async () => ({ tools: [...wrong, right] as never[] }), callTool: async () => ({}) }
  expect((await mcpTools(client, { prefix: 'm_' })).map(({ name }) => name)).toEqual([`m_${right.name}`])
})

it.each([
  ['pages', []],
  ['tools', Array.from({ length: 60 }, (_, i) => ({ name: `t${i}`, inputSchema: { type: 'object' as const } }))],
])('threat 115: an MCP server whose list of %s never ends is left', async (_, tools) => {
  const client = { listTools: async () => ({ tools, nextCursor: 'more' }), callTool: async () => ({}) }
  await expect(mcpTools(client)).rejects.toThrow('lists more than 1000 tools or 100 pages')
})

it('threat 115: an MCP server whose tools are too long together is left', async () => {
  const tools = Array.from({ length: 5 }, (_, i) => ({
    name: `t${i}`,
    description: 'd'.repeat(60_000),
    inputSchema: { type: 'object' as const },
  }))
  const client = { listTools: async () => ({ tools }), callTool: async () => ({}) }
  await expect(mcpTools(client)).rejects.toThrow('have more than 262144 characters together')
})

it('a tool that never ends is left when its time is over', async () => {
  let signal: AbortSignal | undefined
  const tool: Tool = {
    ...lookUp().tool,
    seconds: 0.05,
    run: (_, options) => ((signal = options.signal), new Promise(() => undefined)),
  }
  const { told } = await toldOf(weather, { tools: [tool] })
  expect(told).toEqual([['call_a', 'It failed: look_up_weather took longer than 0.05 seconds']])
  expect(signal!.aborted).toBe(true)
})

it('a Standard Schema tells the model the arguments, and says what is wrong with them', async () => {
  const parameters = toStandardJsonSchema(
    v.object({ city: v.pipe(v.string(), v.minLength(3)), days: v.optional(v.number(), 1) }),
  )
  const tool: Tool<typeof parameters> = {
    name: 'look_up_weather',
    description: 'The weather',
    parameters,
    run: ({ city, days }) => `${city} ${days.toFixed(1)}`,
  }
  const at = await scriptedTask(calls({ input: { city: 'Oslo' } }, { input: { city: 'O' } }))
  await at.run({ tools: [tool] })
  const [first, second] = at.upstream.requests.map(
    ({ body }) => body as { tools: object[]; messages: { content: string }[] },
  )
  expect(first!.tools).toMatchObject([
    { function: { parameters: { type: 'object', properties: { city: { minLength: 3 } }, required: ['city'] } } },
  ])
  expect(second!.messages.slice(-2).map(({ content }) => content)).toEqual([
    'Oslo 1.0',
    expect.stringMatching(/^The arguments are wrong: city: .*length/),
  ])
})

it('a schema without a JSON Schema is an error of the program', async () => {
  const { '~standard': standard } = v.object({})
  const at = await scriptedTask()
  const tool = { ...lookUp().tool, parameters: { '~standard': standard } as unknown as StandardSchema }
  expect(await at.run({ tools: [tool] })).toMatchObject({
    status: 'failed',
    reason: 'The parameters of look_up_weather have no JSON Schema: valibot has to make one',
  })
})

/** Runs something while what waits does so for a twentieth of the time. */
async function hastened<T>(run: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const timer = setInterval(() => void vi.advanceTimersByTime(100), 5)
  return run().finally(() => {
    clearInterval(timer)
    vi.useRealTimers()
  })
}

it('what may pass is asked again: streams that break, and answers that say when', async () => {
  const at = await scriptedTask(() => ({ text: 'Whole', calls: [] }))
  const faults = [
    () => streamed(chunk('Half of'), new Error('broken')),
    () =>
      answer({ error: { message: 'Slow down', type: 'requests', code: 'rate_limit_exceeded' } }, 429, {
        'retry-after': '1',
      }),
  ]
  at.state.fault = () => faults.shift()?.()
  const outcome = await hastened(() => at.run())
  expect(outcome).toMatchObject({ status: 'done', task: { output: 'Whole' } })
  expect(at.told('step')).toHaveLength(3)
  expect(at.told('retry').map(({ seconds }) => seconds)).toEqual([1, expect.any(Number)])
})

it('what fails for good is not asked again, and what keeps failing three times', async () => {
  for (const [status, steps] of [
    [400, 1],
    [500, 4],
  ] as const) {
    const at = await scriptedTask()
    at.faults.push(({ url }) =>
      url.includes('/gateway/') ? Response.json({ error: { message: 'No', code: 'x' } }, { status }) : undefined,
    )
    const outcome = await hastened(() => at.run())
    expect([outcome, at.told('step').length]).toEqual([
      expect.objectContaining({ status: 'failed', reason: 'No' }),
      steps,
    ])
  }
})

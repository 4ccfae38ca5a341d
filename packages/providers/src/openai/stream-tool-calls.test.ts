import type { ChatDelta, UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Read } from '../../../../test/support/decode.js'
import { chunk, finish, decodeReads, decodeChoices } from '../../../../test/support/decode.js'
import { streamDecoder } from './stream.js'

const run = async (...reads: Read[]) => decodeReads(streamDecoder('openai', 'asked-for'), reads)
const choices = async (...chunks: Read) => decodeChoices(streamDecoder('openai', 'asked-for'), chunks)

const toolStart = (index: number, id: string, name: string) => ({
  index: 0,
  delta: { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
  finish_reason: null,
})
const toolPart = (index: number, args: string) => ({
  index: 0,
  delta: { tool_calls: [{ index, function: { arguments: args } }] },
  finish_reason: null,
})
const entry = (fields: object, name?: string, args?: string) =>
  chunk({
    tool_calls: [{ ...fields, function: { ...(name && { name }), ...(args !== undefined && { arguments: args }) } }],
  })
const finished = { index: 0, delta: {}, finish_reason: 'tool_calls' }
const begun = (start: ReturnType<typeof toolStart>) => ({
  ...start,
  delta: { ...start.delta, role: 'assistant', content: null },
})

describe('tool calls of a stream', () => {
  it('are returned as OpenAI sends them', async () => {
    expect(
      await choices(
        chunk({ role: 'assistant', content: null }),
        entry({ index: 0, id: 'call_a', type: 'function' }, 'f', ''),
        entry({ index: 0 }, undefined, '{"a"'),
        entry({ index: 0 }, undefined, ':1}'),
        entry({ index: 1, id: 'call_b', type: 'function' }, 'g', '{}'),
        finish('tool_calls'),
      ),
    ).toEqual([
      { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null },
      toolStart(0, 'call_a', 'f'),
      toolPart(0, '{"a"'),
      toolPart(0, ':1}'),
      toolStart(1, 'call_b', 'g'),
      toolPart(1, '{}'),
      finished,
    ])
  })

  it.each<[what: string, ...chunks: object[]]>([
    ['counted from 1', entry({ index: 1, id: 'a' }, 'f', '{}'), entry({ index: 2, id: 'b' }, 'g', '[]')],
    ['without an index, by id', entry({ id: 'a' }, 'f', '{}'), entry({ id: 'b' }, 'g', '[]')],
    ['all with index 0', entry({ index: 0, id: 'a' }, 'f', '{}'), entry({ index: 0, id: 'b' }, 'g', '[]')],
    [
      'with arguments as an object',
      entry({ index: 0, id: 'a' }, 'f', {} as string),
      entry({ index: 1, id: 'b' }, 'g', [] as never),
    ],
  ])('%s are numbered from 0', async (_, ...chunks) => {
    expect(await choices(...chunks, finish('tool_calls'))).toEqual([
      begun(toolStart(0, 'a', 'f')),
      toolPart(0, '{}'),
      toolStart(1, 'b', 'g'),
      toolPart(1, '[]'),
      finished,
    ])
  })

  it('threat 114: of custom tools and functions are numbered from 0, whatever numbers they have', async () => {
    const custom = (index: number, custom: object, fields: object = {}) =>
      chunk({ tool_calls: [{ index, ...fields, custom }] })
    const part = (call: object) => ({ index: 0, delta: { tool_calls: [call] }, finish_reason: null })
    const opened = { id: 'a', type: 'custom', custom: { name: 'c', input: '' } }
    expect(
      await choices(
        chunk({ role: 'assistant', content: null }),
        custom(4_294_967_294, opened.custom, { id: 'a', type: 'custom' }),
        entry({ index: 7, id: 'b', type: 'function' }, 'f', '{}'),
        custom(4_294_967_294, { input: 'x' }),
        finish('tool_calls'),
      ),
    ).toEqual([
      { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null },
      part({ index: 0, ...opened }),
      toolStart(1, 'b', 'f'),
      toolPart(1, '{}'),
      part({ index: 0, custom: { input: 'x' } }),
      finished,
    ])
  })

  it('without index and id continue the previous call', async () => {
    expect(
      await choices(
        entry({ id: 'a' }, 'f', '{'),
        entry({}, undefined, '}'),
        entry({ id: 'b' }, 'g', '[]'),
        finish('stop'),
      ),
    ).toEqual([
      begun(toolStart(0, 'a', 'f')),
      toolPart(0, '{'),
      toolPart(0, '}'),
      toolStart(1, 'b', 'g'),
      toolPart(1, '[]'),
      finished,
    ])
  })

  it.each<[what: string, second: string, ...entries: object[]]>([
    ['nor index', 'f', entry({ id: '' }, 'f', '{'), entry({}, undefined, '}'), entry({ id: '' }, 'f', '[]')],
    [
      'but one index',
      'g',
      entry({ index: 0 }, 'f', '{'),
      entry({ index: 0 }, 'f', '}'),
      entry({ index: 0 }, 'g', '[]'),
    ],
  ])('without index and id %s are distinguished by their names', async (_, second, ...entries) => {
    const given = await choices(...entries, finish('stop'))
    expect(given.flatMap((choice) => (choice?.['delta'] as ChatDelta | undefined)?.tool_calls ?? [])).toMatchObject([
      { index: 0, function: { name: 'f' } },
      { index: 0, function: { arguments: '{' } },
      { index: 0, function: { arguments: '}' } },
      { index: 1, function: { name: second } },
      { index: 1, function: { arguments: '[]' } },
    ])
  })

  it('are returned once they have a name', async () => {
    expect(
      await choices(
        entry({ index: 0, id: 'a' }),
        entry({ index: 0 }, undefined, '{"x"'),
        entry({ index: 0 }, 'f', ':'),
        entry({ index: 0 }, undefined, '1}'),
        finish('tool_calls'),
      ),
    ).toEqual([begun(toolStart(0, 'a', 'f')), toolPart(0, '{"x":'), toolPart(0, '1}'), finished])
  })

  it('are malformed if they have no name', async () => {
    const { error } = await run([entry({ index: 0, id: 'a' }, undefined, '{}')], [finish('tool_calls')], ['[DONE]'])
    expect(error).toMatchObject({ message: 'A tool call has no name', failure: { kind: 'malformed' } })
  })

  it('in the deprecated form are converted', async () => {
    const called = [{ name: 'f', arguments: '' }, { arguments: '{"a"' }, { arguments: ':1}' }]
    const id = expect.stringMatching(/^call_\w{24}$/) as string
    expect(await choices(...called.map((function_call) => chunk({ function_call })), finish('function_call'))).toEqual([
      begun(toolStart(0, id, 'f')),
      toolPart(0, '{"a"'),
      toolPart(0, ':1}'),
      finished,
    ])
  })

  it('get an id and arguments where there are none', async () => {
    const [start, part, end] = await choices(entry({ index: 0 }, 'f'), finish('tool_calls'))
    expect(start).toMatchObject({
      delta: { tool_calls: [{ id: expect.stringMatching(/^call_[A-Za-z0-9]{24}$/) as string }] },
    })
    expect([part, end]).toEqual([toolPart(0, '{}'), finished])
  })

  it('change the finish reason stop to tool_calls, but not length', async () => {
    expect((await choices(entry({ index: 0, id: 'a' }, 'f', '{}'), finish('stop'))).at(-1)).toEqual(finished)
    expect((await choices(entry({ index: 0, id: 'a' }, 'f', '{"x'), finish('length'))).at(-1)).toMatchObject({
      finish_reason: 'length',
    })
  })

  it('convert the finish reason function_call, and change it to stop without calls', async () => {
    expect((await choices(entry({ index: 0 }, 'f', '{}'), finish('function_call'))).at(-1)).toEqual(finished)
    // A client that sees tool_calls expects at least one call.
    expect((await choices(chunk({ content: '' }), finish('tool_calls'))).at(-1)).toMatchObject({
      finish_reason: 'stop',
    })
  })

  it('fail at the end if their arguments are not JSON', async () => {
    const { error } = await run([entry({ index: 0, id: 'a' }, 'f', '{"x')], [finish('tool_calls')])
    expect((error as UpstreamError).failure).toMatchObject({ kind: 'malformed', accepted: true })
  })
})

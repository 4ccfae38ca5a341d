import type { ChatDelta, UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Read } from '../../../../test/support/decode.js'
import { head, chunk, finish, usage, decodeReads } from '../../../../test/support/decode.js'
import { streamDecoder } from './stream.js'

const run = async (...reads: Read[]) => decodeReads(streamDecoder('openai', 'asked-for'), reads)

/** The chunks of one read each, without what all have alike. */
async function choices(...chunks: (object | string)[]) {
  const { batches, error } = await run(...chunks.map((one) => [one]))
  if (error) throw error
  return batches.flat().map(({ choices: [choice], usage: reported }) => (choice ? choice : reported))
}

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

describe('a stream of OpenAI', () => {
  it('passes as it is, one batch per read, without padding', async () => {
    const extra = { service_tier: 'default', system_fingerprint: 'fp' }
    const first = { ...chunk({ role: 'assistant', content: '', refusal: null }, null, { logprobs: null }), ...extra }
    const { batches } = await run(
      [{ ...first, obfuscation: 'x', usage: null }],
      [{ ...chunk({ content: 'Hel' }), obfuscation: 'xyz' }, chunk({ content: 'lo' })],
      [finish()],
      [{ ...head, choices: [], usage, obfuscation: 'z' }],
      ['[DONE]'],
    )
    expect(batches).toEqual([
      [first],
      [
        { ...chunk({ content: 'Hel' }), ...extra },
        { ...chunk({ content: 'lo' }), ...extra },
      ],
      [
        { ...finish(), ...extra },
        { ...head, ...extra, choices: [], usage },
      ],
    ])
  })

  it('keeps its head, whatever later chunks say', async () => {
    const { batches } = await run(
      [chunk({ content: 'a' })],
      [{ ...chunk({ content: 'b' }, 'stop'), id: 'other', created: 9, model: 'other' }],
    )
    expect(batches.flat().map(({ id, created, model }) => [id, created, model])).toEqual(
      Array.from({ length: 3 }, () => ['chatcmpl-1', 5, 'gpt-4o']),
    )
  })

  it('gets the head that a compatible server leaves out', async () => {
    const { batches } = await run([{ choices: [{ delta: { content: 'a' }, finish_reason: 'stop' }] }])
    const [first, last] = batches.flat()
    expect(first!.id).toMatch(/^chatcmpl-[A-Za-z0-9]{24}$/)
    expect(last!.id).toBe(first!.id)
    expect(first).toMatchObject({ object: 'chat.completion.chunk', model: 'asked-for' })
    expect(Math.abs(first!.created - Date.now() / 1000)).toBeLessThan(5)
  })

  it('leaves out Azure’s empty first chunk and takes nothing from it', async () => {
    const preamble = { id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [{}] }
    const { batches } = await run([preamble], [chunk({ role: 'assistant', content: 'a' })], [finish()])
    expect(batches).toEqual([[chunk({ role: 'assistant', content: 'a' })], [finish()]])
  })

  it('says the role once and never an empty one', async () => {
    expect(
      await choices(chunk({ role: '', content: 'a' }), chunk({ role: 'assistant', content: 'b' }), finish()),
    ).toEqual([
      { index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: null },
      { index: 0, delta: { content: 'b' }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: 'stop' },
    ])
  })

  it('counts usage once, on a chunk of its own, the last report', async () => {
    const last = { ...usage, completion_tokens: 9, total_tokens: 12 }
    expect(
      await choices(
        { ...chunk({ content: 'a' }), usage: { prompt_tokens: 1, completion_tokens: 1 } },
        { ...finish(), usage },
        { ...head, choices: [], usage: last },
      ),
    ).toEqual([
      { index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: 'stop' },
      last,
    ])
  })

  it('sends a finish after all that belongs to its choice', async () => {
    expect(await choices(chunk({ content: 'a' }, 'stop'), chunk({ content: 'b' }), '[DONE]')).toEqual([
      { index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: null },
      { index: 0, delta: { content: 'b' }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: 'stop' },
    ])
  })

  it('reads usage from the choice where the chunk has none', async () => {
    const counted = { ...usage, cached_tokens: 1 }
    const given = await choices(chunk({ content: 'a' }), chunk({}, 'length', { usage: counted }), '[DONE]')
    expect(given.slice(1)).toEqual([{ index: 0, delta: {}, finish_reason: 'length' }, counted])
    const both = { ...chunk({}, 'stop', { usage: { ...usage, completion_tokens: 9 } }), usage }
    expect((await choices(chunk({ content: 'a' }), both, '[DONE]')).at(-1)).toEqual(usage)
  })

  it('takes thoughts and text out of lists of parts', async () => {
    const thought = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] })
    const given = await choices(
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: [thought('h')] }),
      chunk({ content: [thought('m'), { type: 'text', text: '3' }] }),
      chunk({ content: '91' }),
      finish(),
    )
    expect(given.slice(1, -1)).toMatchObject([
      { delta: { content: '', reasoning_content: 'h' } },
      { delta: { content: '3', reasoning_content: 'm' } },
      { delta: { content: '91' } },
    ])
  })

  it('says reasoning_content for reasoning', async () => {
    expect((await choices(chunk({ reasoning: 'hm' }), finish()))[0]).toMatchObject({
      delta: { reasoning_content: 'hm' },
    })
  })

  it('keeps several choices apart', async () => {
    const of = (index: number, content: string, reason: string | null = null) => ({
      ...head,
      choices: [{ index, delta: { content }, finish_reason: reason }],
    })
    const got = await choices(of(0, 'a'), of(1, 'x'), of(0, 'b', 'stop'), of(1, 'y', 'length'))
    const texts = [0, 1].map((index) =>
      got.map((choice) => (choice?.['index'] === index ? ((choice['delta'] as ChatDelta).content ?? '') : '')).join(''),
    )
    expect(texts).toEqual(['ab', 'xy'])
    expect(got.slice(-2)).toEqual([
      { index: 0, delta: {}, finish_reason: 'stop' },
      { index: 1, delta: {}, finish_reason: 'length' },
    ])
  })

  it('makes calls in the deprecated form regular', async () => {
    const called = [{ name: 'f', arguments: '' }, { arguments: '{"a"' }, { arguments: ':1}' }]
    const id = expect.stringMatching(/^call_\w{24}$/) as string
    expect(await choices(...called.map((function_call) => chunk({ function_call })), finish('function_call'))).toEqual([
      begun(toolStart(0, id, 'f')),
      toolPart(0, '{"a"'),
      toolPart(0, ':1}'),
      finished,
    ])
  })

  it('is senseless with a call whose name never comes', async () => {
    const { error } = await run([entry({ index: 0, id: 'a' }, undefined, '{}')], [finish('tool_calls')], ['[DONE]'])
    expect(error).toMatchObject({ message: 'A tool call has no name', failure: { kind: 'malformed' } })
  })

  it('makes function_call and unknown reasons regular', async () => {
    expect((await choices(entry({ index: 0 }, 'f', '{}'), finish('function_call'))).at(-1)).toEqual(finished)
    // Nobody can act on a call that is not there.
    expect((await choices(chunk({ content: '' }), finish('tool_calls'))).at(-1)).toMatchObject({
      finish_reason: 'stop',
    })
    expect((await choices(chunk({ content: '' }), finish('eos'))).at(-1)).toMatchObject({ finish_reason: 'stop' })
  })

  it('ends at [DONE]', async () => {
    const { batches } = await run([chunk({ content: 'a' }, 'stop')], ['[DONE]'], [chunk({ content: 'late' })])
    expect(JSON.stringify(batches)).not.toContain('late')
  })

  it('ends without [DONE] where every choice has its finish', async () => {
    expect(await choices(chunk({ content: 'a' }), finish())).toHaveLength(2)
  })
})

describe('tool calls of a stream', () => {
  it('come as OpenAI sends them', async () => {
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
  ])('%s are counted from 0', async (_, ...chunks) => {
    expect(await choices(...chunks, finish('tool_calls'))).toEqual([
      begun(toolStart(0, 'a', 'f')),
      toolPart(0, '{}'),
      toolStart(1, 'b', 'g'),
      toolPart(1, '[]'),
      finished,
    ])
  })

  it('without index and id go on with the call before', async () => {
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
  ])('with neither id %s are told apart by their names', async (_, second, ...entries) => {
    const given = await choices(...entries, finish('stop'))
    expect(given.flatMap((choice) => (choice?.['delta'] as ChatDelta | undefined)?.tool_calls ?? [])).toMatchObject([
      { index: 0, function: { name: 'f' } },
      { index: 0, function: { arguments: '{' } },
      { index: 0, function: { arguments: '}' } },
      { index: 1, function: { name: second } },
      { index: 1, function: { arguments: '[]' } },
    ])
  })

  it('wait for their name', async () => {
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

  it('get an id and arguments where there are none', async () => {
    const [start, part, end] = await choices(entry({ index: 0 }, 'f'), finish('tool_calls'))
    expect(start).toMatchObject({
      delta: { tool_calls: [{ id: expect.stringMatching(/^call_[A-Za-z0-9]{24}$/) as string }] },
    })
    expect([part, end]).toEqual([toolPart(0, '{}'), finished])
  })

  it('turn a stop into tool_calls, but not a length', async () => {
    expect((await choices(entry({ index: 0, id: 'a' }, 'f', '{}'), finish('stop'))).at(-1)).toEqual(finished)
    expect((await choices(entry({ index: 0, id: 'a' }, 'f', '{"x'), finish('length'))).at(-1)).toMatchObject({
      finish_reason: 'length',
    })
  })

  it('fail at the end where their arguments are not JSON', async () => {
    const { error } = await run([entry({ index: 0, id: 'a' }, 'f', '{"x')], [finish('tool_calls')])
    expect((error as UpstreamError).failure).toMatchObject({ kind: 'malformed', accepted: true })
  })
})

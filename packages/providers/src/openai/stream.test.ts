import type { ChatDelta } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Read } from '../../../../test/support/decode.js'
import { head, chunk, finish, usage, decodeReads, decodeChoices } from '../../../../test/support/decode.js'
import { streamDecoder } from './stream.js'

const run = async (...reads: Read[]) => decodeReads(streamDecoder('openai', 'asked-for'), reads)
const choices = async (...chunks: Read) => decodeChoices(streamDecoder('openai', 'asked-for'), chunks)

describe('a stream of OpenAI', () => {
  it('is passed on unchanged, one batch per read, without padding', async () => {
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

  it('has each further field of a choice that says something and ends once', async () => {
    const logprobs = { content: [{ token: 'Hi', logprob: -0.1 }] }
    const extra = { logprobs, token_ids: [1, 2], stop_reason: 'x', other: null }
    const last = { ...finish(), choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop', ...extra }] }
    const { batches } = await run([chunk({ content: 'a' })], [last as never])
    const [, said, ended] = batches.flat().flatMap(({ choices }) => choices)
    expect([said, ended]).toEqual([
      { index: 0, delta: { content: 'Hi' }, finish_reason: null, logprobs, token_ids: [1, 2], other: null },
      { index: 0, delta: {}, finish_reason: 'stop', stop_reason: 'x', other: null },
    ])
    // Where nothing is said, all of them are with the end.
    const empty = { ...finish(), choices: [{ index: 0, delta: {}, finish_reason: 'stop', ...extra }] }
    const alone = await run([chunk({ content: 'a' })], [empty as never])
    expect(alone.batches.flat().at(-1)!.choices).toEqual([{ index: 0, delta: {}, finish_reason: 'stop', ...extra }])
  })

  it('threat 114: has no choice of an enormous index', async () => {
    const { batches } = await run([
      { ...finish(), choices: [{ index: 4_294_967_290, delta: {}, finish_reason: 'stop' }] },
    ])
    expect(batches.flat()[0]).toMatchObject({ choices: [{ index: 0 }] })
  })

  it('has no characters of a text in place of a delta', async () => {
    const { batches } = await run(
      [{ ...chunk({ content: 'a' }), choices: [{ index: 0, delta: 'abc', finish_reason: null }] } as never],
      [finish()],
    )
    expect(batches.flat()[0]).toMatchObject({ choices: [{ delta: {} }] })
    expect(JSON.stringify(batches)).not.toContain('abc')
  })

  it('keeps the head of its first chunk', async () => {
    const { batches } = await run(
      [chunk({ content: 'a' })],
      [{ ...chunk({ content: 'b' }, 'stop'), id: 'other', created: 9, model: 'other' }],
    )
    expect(batches.flat().map(({ id, created, model }) => [id, created, model])).toEqual(
      Array.from({ length: 3 }, () => ['chatcmpl-1', 5, 'gpt-4o']),
    )
  })

  it('gets the head fields that a compatible server omits', async () => {
    const { batches } = await run([{ choices: [{ delta: { content: 'a' }, finish_reason: 'stop' }] }])
    const [first, last] = batches.flat()
    expect(first!.id).toMatch(/^chatcmpl-[A-Za-z0-9]{24}$/)
    expect(last!.id).toBe(first!.id)
    expect(first).toMatchObject({ object: 'chat.completion.chunk', model: 'asked-for' })
    expect(Math.abs(first!.created - Date.now() / 1000)).toBeLessThan(5)
  })

  it('omits the empty first chunk of Azure', async () => {
    const preamble = { id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [{}] }
    const { batches } = await run([preamble], [chunk({ role: 'assistant', content: 'a' })], [finish()])
    expect(batches).toEqual([[chunk({ role: 'assistant', content: 'a' })], [finish()]])
  })

  it('sends the role once and never an empty one', async () => {
    expect(
      await choices(chunk({ role: '', content: 'a' }), chunk({ role: 'assistant', content: 'b' }), finish()),
    ).toEqual([
      { index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: null },
      { index: 0, delta: { content: 'b' }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: 'stop' },
    ])
  })

  it('uses the last usage, in a chunk of its own', async () => {
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

  it('sends a finish reason after everything else of its choice', async () => {
    expect(await choices(chunk({ content: 'a' }, 'stop'), chunk({ content: 'b' }), '[DONE]')).toEqual([
      { index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: null },
      { index: 0, delta: { content: 'b' }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: 'stop' },
    ])
  })

  it('reads usage from the choice where the chunk has none', async () => {
    const counted = { ...usage, cached_tokens: 1 }
    const given = await choices(chunk({ content: 'a' }), chunk({}, 'length', { usage: counted }), '[DONE]')
    const details = { prompt_tokens_details: { cached_tokens: 1 } }
    expect(given.slice(1)).toEqual([
      { index: 0, delta: {}, finish_reason: 'length' },
      { ...counted, ...details },
    ])
    const both = { ...chunk({}, 'stop', { usage: { ...usage, completion_tokens: 9 } }), usage }
    expect((await choices(chunk({ content: 'a' }), both, '[DONE]')).at(-1)).toEqual(usage)
  })

  it('separates reasoning and text in lists of parts', async () => {
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

  it('renames reasoning to reasoning_content', async () => {
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

  it('converts unknown finish reasons to stop', async () => {
    expect((await choices(chunk({ content: '' }), finish('eos'))).at(-1)).toMatchObject({ finish_reason: 'stop' })
  })

  it('ends at [DONE]', async () => {
    const { batches } = await run([chunk({ content: 'a' }, 'stop')], ['[DONE]'], [chunk({ content: 'late' })])
    expect(JSON.stringify(batches)).not.toContain('late')
  })

  it('ends without [DONE] where every choice has a finish reason', async () => {
    expect(await choices(chunk({ content: 'a' }), finish())).toHaveLength(2)
  })
})

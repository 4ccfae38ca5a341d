import type { ChatCompletion, ChunkChoice } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { eventOf, providerOf } from '../../../../test/support/scripted-provider.js'

const request = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] }
const call = { signal: new AbortController().signal }
type Tags = boolean | 'open'

/** The thoughts and the text of a whole answer. */
async function whole(content: string, thinkTags: Tags = true, more: object = {}) {
  const text = JSON.stringify({
    choices: [{ message: { role: 'assistant', content, ...more }, finish_reason: 'stop' }],
  })
  const provider = providerOf('openai', [text], 'application/json', { thinkTags })
  const { message } = ((await provider.chat.complete(request, call)) as ChatCompletion).choices[0]!
  return [message['reasoning_content'], message.content]
}

/** The thoughts and the text of a stream of pieces of a content. */
async function streamed(pieces: string[], thinkTags: Tags = true, more: object = {}) {
  const events = pieces.map((content) => ({ choices: [{ index: 0, delta: { content, ...more } }] }))
  const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
  const provider = providerOf('openai', [...events, end].map(eventOf), 'text/event-stream', { thinkTags })
  const { batches } = await provider.chat.stream({ ...request, stream: true }, call)
  const choices: ChunkChoice[] = []
  for await (const batch of batches) choices.push(...batch)
  const textOf = (field: string) => choices.map(({ delta }) => (delta[field] as string | undefined) ?? '').join('')
  return { said: [textOf('reasoning_content') || undefined, textOf('content')], choices }
}

describe('thoughts in tags', () => {
  it.each<[content: string, thoughts: string | undefined, text: string, given?: Tags]>([
    ['<think>Hm.</think>Hello', 'Hm.', 'Hello'],
    ['<think>\nHm.\n\nSo.\n</think>\n\nHello\n', 'Hm.\n\nSo.', 'Hello\n'],
    ['\n <think>Hm.</think>Hello', 'Hm.', 'Hello'],
    ['<think></think>\n\nHello', undefined, 'Hello'],
    ['<think>Hm.</think>\n<think>So.</think> Hello', 'Hm.So.', 'Hello'],
    ['<think>a < b, </thin, <think>, </ think></think>a</think>', 'a < b, </thin, <think>, </ think>', 'a</think>'],
    ['<think>Hm. 😀</think>😀', 'Hm. 😀', '😀'],
    // Cut at the limit.
    ['<think>Hm. </thi', 'Hm. </thi', ''],
    ['<thi', undefined, '<thi'],
    [' ', undefined, ' '],
    ['', undefined, ''],
    // Answers about tags, and other tags.
    ['The tag <think>x</think>', undefined, 'The tag <think>x</think>'],
    ['<b>Hello</b>', undefined, '<b>Hello</b>'],
    ['<thinker>Hello', undefined, '<thinker>Hello'],
    // Anthropic's and others' prompts, Gemma and Gemini, Magistral, Kimi, Seed-OSS, Command A
    ['<thinking>Hm.</think></thinking>Hello', 'Hm.</think>', 'Hello'],
    ['<thought>Hm.</thought>Hello', 'Hm.', 'Hello'],
    ['<reasoning>Hm.</reasoning>Hello', 'Hm.', 'Hello'],
    ['[THINK]Hm.[/THINK]Hello', 'Hm.', 'Hello'],
    ['◁think▷Hm.◁/think▷Hello', 'Hm.', 'Hello'],
    ['<seed:think>Hm.</seed:think>Hello', 'Hm.', 'Hello'],
    ['<|START_THINKING|>Hm.<|END_THINKING|>Hello', 'Hm.', 'Hello'],
    // The prompt has the opening tag.
    ['Hm.\n</think>\n\nHello', 'Hm.', 'Hello', 'open'],
    ['\nHm.', 'Hm.', '', 'open'],
    ['<think>\nHm.</think>Hello', 'Hm.', 'Hello', 'open'],
    ['<b>Hm.</think>Hello', '<b>Hm.', 'Hello', 'open'],
    ['</think>Hello', undefined, 'Hello', 'open'],
    ['Hm.</think><think>So.</think>Hello', 'Hm.So.', 'Hello', 'open'],
    ['Hm.</think>Hello', undefined, 'Hm.</think>Hello', true],
  ])('%j are separated, whole and wherever it is cut', async (content, thoughts, text, option = true) => {
    expect(await whole(content, option)).toEqual([thoughts, text])
    expect((await streamed([content], option)).said).toEqual([thoughts, text])
    expect((await streamed([...content], option)).said).toEqual([thoughts, text])
    for (let at = 1; at < content.length; at++)
      expect((await streamed([content.slice(0, at), content.slice(at)], option)).said).toEqual([thoughts, text])
  })

  it('are left alone unless asked for', async () => {
    const content = '<think>Hm.</think>Hello'
    expect(await whole(content, false)).toEqual([undefined, content])
    expect((await streamed([content], false)).said).toEqual([undefined, content])
  })

  it('are sent as they come', async () => {
    const { choices } = await streamed(['<think>', 'H', 'm.', '</think>', 'He', 'llo'])
    const deltas = choices.map(({ delta: { content, reasoning_content } }) => [reasoning_content, content])
    expect(deltas.filter(([thought, text]) => thought || text)).toEqual([
      ['H', expect.anything()],
      ['m.', expect.anything()],
      [undefined, 'He'],
      [undefined, 'llo'],
    ])
  })

  it('follow those that the server has separated', async () => {
    expect(await whole('<think>b</think>c', true, { reasoning_content: 'a' })).toEqual(['ab', 'c'])
    expect(await whole('c', true, { reasoning: 'a' })).toEqual(['a', 'c'])
  })

  it('are separated in each choice, before its tool calls', async () => {
    const of = (index: number, delta: object, finish_reason: string | null = null) => ({
      choices: [{ index, delta, finish_reason }],
    })
    const events = [
      of(0, { content: '<think>a' }),
      of(1, { content: 'b<think>' }),
      of(0, { content: '</think>' }),
      of(0, { tool_calls: [{ index: 0, id: 'x', function: { name: 'f', arguments: '{}' } }] }),
      of(0, {}, 'tool_calls'),
      of(1, {}, 'stop'),
    ]
    const provider = providerOf('openai', events.map(eventOf), 'text/event-stream', { thinkTags: true })
    const { batches } = await provider.chat.stream({ ...request, stream: true }, call)
    const choices: ChunkChoice[] = []
    for await (const batch of batches) choices.push(...batch)
    const first = choices.filter(({ index }) => index === 0)
    expect(first[0]!.delta).toMatchObject({ role: 'assistant', reasoning_content: 'a' })
    expect(first.at(-1)).toMatchObject({ finish_reason: 'tool_calls' })
    expect(choices.find(({ index }) => index === 1)!.delta).toMatchObject({ content: 'b<think>' })
  })

  it('take linear time, however many pieces there are', async () => {
    const blanks = Array<string>(20_000).fill(' ')
    expect((await streamed(blanks)).said[1]).toHaveLength(20_000)
    expect((await streamed(['<think>a', ...blanks, 'b</think>c'])).said).toEqual([`a${' '.repeat(20_000)}b`, 'c'])
  })
})

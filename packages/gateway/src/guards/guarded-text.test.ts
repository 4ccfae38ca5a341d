import type { ChunkChoice } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { expectLinear } from '../../../../test/support/linear.js'
import { randomOf } from '../../../../test/support/random.js'
import type { Judge } from './guarded-text.js'
import { judgedWhole, LookBack, mapTexts } from './guarded-text.js'

const memory = { take: () => undefined }
const chunkOf = (delta: object, finish_reason: 'stop' | null = null): ChunkChoice => ({
  index: 0,
  delta: { ...delta },
  finish_reason,
})

/** Sends the pieces of a text through a guard. @returns what comes of each, and at the end; how often the guard was asked, and for how many characters */
async function through(
  pieces: string[],
  characters: number,
  judge: (text: string) => string,
  deltaOf = (content: string): object => ({ content }),
) {
  const asked = { times: 0, characters: 0, most: 0 }
  const counting: Judge = async (text) => {
    asked.times++
    asked.characters += text.length
    asked.most = Math.max(asked.most, text.length)
    return judge(text)
  }
  const lookBack = new LookBack(characters, counting, memory)
  const out: ChunkChoice[][] = []
  for (const piece of pieces) out.push(await lookBack.push(chunkOf(deltaOf(piece))))
  out.push(await lookBack.push(chunkOf({}, 'stop')))
  return {
    out,
    asked,
    text: out
      .flat()
      .map(({ delta }) => delta.content ?? '')
      .join(''),
  }
}

/** Cuts a text into pieces of up to `most` characters. */
function cut(text: string, most: number, random: () => number): string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length;) {
    const end = at + 1 + Math.floor(random() * most)
    pieces.push(text.slice(at, end))
    at = end
  }
  return pieces
}

describe('mapTexts', () => {
  it('replaces texts at any depth, and neither names nor data', () => {
    const messages = [
      {
        role: 'user',
        name: 'ab',
        content: [
          { type: 'text', text: 'ab' },
          { type: 'image_url', image_url: { url: 'ab' } },
        ],
      },
      { role: 'assistant', content: 'ab', tool_calls: [{ id: 'ab', function: { name: 'ab', arguments: '"ab"' } }] },
      { role: 'tool', tool_call_id: 'ab', content: 'ab' },
    ]
    expect(mapTexts(messages, (text) => text.toUpperCase())).toEqual([
      {
        role: 'user',
        name: 'ab',
        content: [
          { type: 'text', text: 'AB' },
          { type: 'image_url', image_url: { url: 'ab' } },
        ],
      },
      { role: 'assistant', content: 'AB', tool_calls: [{ id: 'ab', function: { name: 'ab', arguments: '"AB"' } }] },
      { role: 'tool', tool_call_id: 'ab', content: 'AB' },
    ])
    expect(messages[1]!.content).toBe('ab')
  })

  it('returns the value itself where nothing changes, and sets no prototype', () => {
    const value = JSON.parse('{"__proto__":{"text":"a"},"text":"b"}') as object
    expect(mapTexts(value, (text) => text)).toBe(value)
    const now = mapTexts(value, (text) => `${text}!`)
    expect(JSON.stringify(now)).toBe('{"__proto__":{"text":"a!"},"text":"b!"}')
    expect(Object.getPrototypeOf(now)).toBe(Object.prototype)
  })

  it('leaves out the signature of a thought that changes', () => {
    const blocks = {
      thinking_blocks: [
        { type: 'thinking', thinking: 'a', signature: 's' },
        { thinking: 'b', signature: 's' },
      ],
    }
    expect(mapTexts(blocks, (text) => (text === 'a' ? 'c' : text))).toEqual({
      thinking_blocks: [
        { type: 'thinking', thinking: 'c' },
        { thinking: 'b', signature: 's' },
      ],
    })
  })
})

it('threat 96: texts below a long name take linear time', () => {
  expectLinear((n) => {
    const value = { ['x'.repeat(n)]: Array.from({ length: n }, () => 'a') }
    return () => void mapTexts(value, (text) => text)
  })
})

describe('threat 97: the texts of an answer below a long name', () => {
  const answer = { content: 'a secret', ['x'.repeat(1_000_000)]: Array.from({ length: 2_000 }, () => 'secret') }
  const hide = (text: string) => text.replace('secret', '-')

  it('are left out of a whole answer', async () => {
    const now = await judgedWhole(answer, async (text) => hide(text), memory)
    expect(Object.values(now)).toEqual(['a -', Array.from({ length: 2_000 }, () => '')])
  })

  it('are left out where there are more than 50,000', async () => {
    const now = await judgedWhole(
      Array.from({ length: 50_001 }, () => 'secret'),
      async (text) => hide(text),
      memory,
    )
    expect(now.slice(-2)).toEqual(['-', ''])
  })

  it('are judged together where they are pieces of one, in a whole answer too', async () => {
    const details = ['my sec', 'ret is'].map((text) => ({ index: 0, text }))
    expect(await judgedWhole(details, async (text) => hide(text), memory)).toMatchObject([
      { text: 'my - is' },
      { text: '' },
    ])
  })

  it('are left out of a stream, and count as memory', async () => {
    let taken = 0
    const counting = { take: (bytes: number) => void (taken += bytes) }
    const lookBack = new LookBack(10, async (text) => hide(text), counting)
    const released = [
      ...(await lookBack.push(chunkOf(answer))),
      ...(await lookBack.push(chunkOf({ content: ' that goes on' }))),
    ]
    expect(released[0]!.delta.content).toBe('a -')
    expect(JSON.stringify(released)).not.toContain('secret')
    expect(taken).toBeGreaterThan(2_000_000)
  })

  it('count with their places', async () => {
    const counted = async (delta: object): Promise<number> => {
      let taken = 0
      await new LookBack(10, async (text) => text, { take: (bytes) => void (taken += bytes) }).push(chunkOf(delta))
      return taken
    }
    const texts = Array.from({ length: 1_000 }, () => 'a')
    expect((await counted({ ['x'.repeat(100)]: texts })) - (await counted({ x: texts }))).toBeGreaterThan(190_000)
  })
})

describe('a look-back', () => {
  const secret = /sk-[a-z0-9]{20}/g
  const hide = (text: string) => text.replace(secret, '***')

  it('finds what is split over chunks, however it is split, and loses nothing', async () => {
    const random = randomOf(7)
    const words = [
      'Hello',
      ' sk-abcdefghij0123456789',
      'sk-abcdefghij0123456789',
      ' ',
      '\n',
      ' it is',
      ' 😀',
      '日本語',
      'x'.repeat(40),
      ' sk-',
      'sk-abc',
    ]
    for (let run = 0; run < 300; run++) {
      const text = Array.from({ length: 5 + random() * 60 }, () => words[Math.floor(random() * words.length)]!).join('')
      const pieces = cut(text, 1 + Math.floor(random() * 30), random)
      const { text: sent } = await through(pieces, 23 + Math.floor(random() * 50), hide)
      expect(sent).toBe(hide(text))
    }
  })

  it('sends what has been seen with enough text behind it, as it came', async () => {
    const pieces = Array.from({ length: 40 }, (_, i) => ` word${i % 10}`)
    const { out, text } = await through(pieces, 30, (text) => text)
    expect(text).toBe(pieces.join(''))
    const before = out.slice(0, -1).flat()
    // Of 240 characters, the last 30 to 60 wait for the end.
    expect(before.length).toBeGreaterThanOrEqual(30)
    expect(before.map(({ delta }) => delta.content)).toEqual(pieces.slice(0, before.length))
    expect(out.at(-1)!.at(-1)).toEqual(chunkOf({}, 'stop'))
  })

  it('asks once for as many new characters, so that work and memory do not grow with the number of chunks', async () => {
    const text = 'word '.repeat(4_000)
    const { asked } = await through([...text], 100, hide)
    expect(asked.times).toBeLessThan(text.length / 90)
    expect(asked.characters).toBeLessThan(3 * text.length)
    expect(asked.most).toBeLessThan(300)
  })

  it('reads each character a few times at most where a guard leaves no place to cut', async () => {
    // Everything is one match, whose replacement is that of no part of it.
    const { asked, text } = await through([...'x'.repeat(20_000)], 100, (text) => `<${text.length}>`)
    expect(text).toBe('<20000>')
    expect(asked.characters).toBeLessThan(5 * 20_000)
  })

  it('is asked once where all is held back', async () => {
    const { asked, text } = await through(['a', 'b', 'c'], Infinity, (text) => text.toUpperCase())
    expect([asked.times, text]).toEqual([1, 'ABC'])
  })

  it('shows no pattern the rest of a word', async () => {
    // A number of 16 digits is one of a card; one of 24 is not.
    const cards = (text: string) => text.replace(/\b\d{16}\b/g, 'CARD')
    for (let before = 0; before < 30; before++) {
      const given = `${'a'.repeat(before)} order ${'1'.repeat(24)} card ${'4'.repeat(16)} ${'and more '.repeat(10)}`
      const { text } = await through([...given], 20, cards)
      expect(text).toBe(cards(given))
    }
  })

  it('keeps the texts of a chunk apart, and their order', async () => {
    const pieces = ['se', 'cret', ' a se', 'cret']
    const both = (text: string): object => ({
      reasoning_content: text,
      reasoning_details: [{ index: 0, type: 'reasoning.text', text }],
    })
    const { out } = await through(pieces, 10, (text) => text.replaceAll('secret', '-'), both)
    const deltas = out
      .flat()
      .map(({ delta }) => delta as { reasoning_content?: string; reasoning_details?: { text: string; type: string }[] })
    expect(deltas.map(({ reasoning_content }) => reasoning_content ?? '').join('')).toBe('- a -')
    expect(deltas.map(({ reasoning_details }) => reasoning_details?.[0]?.text ?? '').join('')).toBe('- a -')
    expect(
      deltas.every(({ reasoning_details }) => !reasoning_details || reasoning_details[0]!.type === 'reasoning.text'),
    ).toBe(true)

    // What comes after a text waits with it.
    const lookBack = new LookBack(10, async (text) => text, memory)
    expect(await lookBack.push(chunkOf({ role: 'assistant', content: '' }))).toHaveLength(1)
    expect(await lookBack.push(chunkOf({ content: 'thus' }))).toEqual([])
    const call = { tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }] }
    expect(await lookBack.push(chunkOf(call))).toEqual([])
    const rest = { tool_calls: [{ index: 0, function: { arguments: '{"city":"Paris"}' } }] }
    const sent = await lookBack.push(chunkOf(rest))
    expect(sent.map(({ delta }) => delta)).toEqual([{ content: 'thus' }, call])
    expect(await lookBack.push(chunkOf({}, 'stop'))).toEqual([chunkOf(rest), chunkOf({}, 'stop')])
  })
})

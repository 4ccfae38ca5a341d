import type { ChatCompletionRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { expectNoSlower } from '../../../../test/support/linear.js'
import { promptOf } from './prompt.js'

const of = (message: object) =>
  promptOf({ model: 'm', messages: [{ role: 'user', ...message }] } as ChatCompletionRequest)

describe('a prompt', () => {
  it('has bytes whatever its fields hold', () => {
    for (const x of [[null], null, [undefined], [[null]], 1, { a: [null] }, true, [1, 'a', { type: 'text' }]])
      expect([x, of({ content: 'Hi', x }).saidBytes > 1]).toEqual([x, true])
    expect(of({ content: 'Hi', x: [{ type: 'text', text: 'Hello' }] }).saidBytes).toBe(7)
  })

  it.each<[url: string, isPicture: boolean]>([
    ['https://images.example/a.png', true],
    ['data:image/png;base64,AAAA', true],
    ['https://img.youtube.com/vi/x/0.jpg', false],
    ['https://youtu.be/x', false],
    ['https://www.you%74ube.com/watch?v=x', false],
    ['https://www.you\u00adtube.com/watch?v=x', false],
    ['https://www.\uff59outube.com/watch?v=x', false],
    ['https://www.you\ntube.com/watch?v=x', false],
    ['https://generativelanguage.googleapis.com/v1beta/files/x', false],
    ['data:video/mp4;base64,AAAA', false],
    ['https://youtube.example@images.example/a.png', false],
    ['https://bilder.example:8443/a.png', true],
    ['https://images.example?a=1', true],
    ['https://müller.example/a.png', false],
    ['file:///a.png', false],
    ['a.png', false],
  ])('has a picture for certain at %j: %s', (url, isPicture) => {
    const { pictures, others } = of({ content: [{ type: 'image_url', image_url: { url } }] })
    expect([pictures, others.length]).toEqual(isPicture ? [1, 0] : [0, 1])
  })

  it('threat 180: costs no more time to read with hosts of many different letters', () => {
    const content = (letter: (i: number) => number) =>
      Array.from({ length: 300 }, (_, part) => {
        const host = String.fromCodePoint(...Array.from({ length: 990 }, (__, i) => letter(37 * i + part)))
        return { type: 'image_url', image_url: { url: `https://${host}/` } }
      })
    expectNoSlower(
      () => of({ content: content((i) => 0x4e00 + (i % 20_000)) }),
      () => of({ content: content((i) => 0x61 + (i % 26)) }),
    )
  })

  it('has images within Markdown, which Gemini is given as pictures, beside their text', () => {
    const image = (type: string) => `![a](data:image/${type};base64,AAAA)`
    const content = `See ${image('png')} and ${image('jpeg')}, not ![b](https://images.example/b.png) or ![[${image('png').slice(2)}`
    const message = { role: 'assistant', content }
    expect(of(message)).toMatchObject({ pictures: 2, saidBytes: content.length })
    expect(of({ ...message, content: [{ type: 'text', text: content }] })).toMatchObject({ pictures: 2 })
  })

  it('has the images and signatures of earlier answers, which are no text', () => {
    const signature = 'x'.repeat(600_000)
    const extra_content = { google: { thought_signature: signature } }
    const url = `data:image/png;base64,${'A'.repeat(400_000)}`
    const answer = {
      role: 'assistant',
      content: 'Hi',
      extra_content,
      reasoning_details: [{ type: 'reasoning.encrypted', data: signature }],
      images: [{ type: 'image_url', image_url: { url }, extra_content }],
    }
    const { pictures, saidBytes } = of(answer)
    expect(pictures).toBe(1)
    expect(saidBytes).toBeLessThan(100)
    expect(of({ content: 'Hi', images: ['odd', { image_url: 1 }] }).saidBytes).toBeGreaterThan(5)
  })
})

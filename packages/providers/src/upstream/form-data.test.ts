import { describe, expect, it } from 'vitest'
import { fileOf, latin1 } from '../../../../test/support/upstream.js'
import { formData } from './form-data.js'

const pieces = (stream: ReadableStream<Uint8Array>) => stream as unknown as AsyncIterable<Uint8Array>

describe('a form', () => {
  it('has its fields, in order, and then the file, byte for byte', async () => {
    const { type, body } = formData(
      { model: 'whisper-1', absent: undefined, n: 2, 'granularities[]': ['word', 'segment'], prompt: 'Ünal\r\n--x' },
      fileOf('a\r\n--b'),
    )
    const [, boundary] = /^multipart\/form-data; boundary=(turnpike-[0-9a-f-]{36})$/.exec(type)!
    const field = (name: string, value: string) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
    expect(Buffer.from(await latin1(pieces(body)), 'latin1').toString()).toBe(
      field('model', 'whisper-1') +
        field('n', '2') +
        field('granularities[]', 'word') +
        field('granularities[]', 'segment') +
        field('prompt', 'Ünal\r\n--x') +
        `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="talk.mp3"\r\nContent-Type: audio/mpeg\r\n\r\n` +
        `a\r\n--b\r\n--${boundary}--\r\n`,
    )
  })

  it.each(['a"b.mp3', 'a\r\nX-Evil: 1\r\n\r\n.mp3', 'Größe 1.mp3', '日本.mp3', 'a;b=c.mp3'])(
    'encodes the file name %j',
    async (name) => {
      const { type, body } = formData({ 'na"me': 'x' }, fileOf('audio', name))
      const form = await new Response(body, { headers: { 'content-type': type } }).formData()
      expect([...form.keys()]).toEqual(['na"me', 'file'])
      const file = form.get('file') as File
      expect([file.name, file.type, await file.text()]).toEqual([name, 'audio/mpeg', 'audio'])
    },
  )

  it('has a unique boundary', () => {
    expect(formData({}, fileOf('')).type).not.toBe(formData({}, fileOf('')).type)
  })

  it('reads the file with backpressure, and cancels it when it is cancelled', async () => {
    const events: string[] = []
    const file = {
      ...fileOf('ab'),
      async *read() {
        try {
          for (const piece of ['a', 'b']) {
            events.push(piece)
            yield Buffer.from(piece)
          }
        } finally {
          events.push('closed')
        }
      },
    }
    const reader = formData({}, file).body.getReader()
    const idle = () => new Promise((resolve) => setImmediate(resolve))
    await reader.read()
    await idle()
    expect(events).toEqual([])
    await reader.read()
    await idle()
    expect(events).toEqual(['a'])
    await reader.cancel()
    expect(events).toEqual(['a', 'closed'])
  })

  it('fails where the file fails', async () => {
    const file = {
      ...fileOf(''),
      // oxlint-disable-next-line require-yield
      async *read(): AsyncGenerator<Uint8Array> {
        throw new Error('Disk gone')
      },
    }
    await expect(latin1(pieces(formData({}, file).body))).rejects.toThrow('Disk gone')
  })
})

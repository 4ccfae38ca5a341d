import type { ChatCompletionRequest, Memory } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { fakeGoogle } from '../testing/index.js'
import type { RemoteContent } from './index.js'
import { google } from './index.js'

const { signal } = new AbortController()
const image = (url: string) => ({ type: 'image_url' as const, image_url: { url } })
const request = (...urls: string[]): ChatCompletionRequest => ({
  model: 'gemini-2.5-flash',
  messages: [
    { role: 'system', content: 'Look' },
    { role: 'user', content: [{ type: 'text', text: 'What is this?' }, ...urls.map(image)] },
  ],
})

/** A provider that gets an image of as many zero bytes as the URL has characters, and the fetched URLs. */
function setUp() {
  const upstream = fakeGoogle()
  const asked: [url: string, limit: number][] = []
  const remoteContent: RemoteContent = async (url, { limit }) => {
    asked.push([url, limit])
    return { type: 'image/png', data: btoa('\0'.repeat(url.length)) }
  }
  return { asked, upstream, provider: google({ apiKey: 'x', transport: upstream.transport, remoteContent }) }
}

const MB = 1024 * 1024

describe('remote images', () => {
  it('are inlined into the request, each address fetched once, up to 15 MiB in all', async () => {
    const { asked, upstream, provider } = setUp()
    const given = request('https://a.example/1', 'https://a.example/1', 'https://b.example/22')
    const before = JSON.stringify(given)
    await provider.chat.complete(given, { signal })
    expect(JSON.stringify(given)).toBe(before)
    expect(asked).toEqual([
      ['https://a.example/1', 7.5 * MB],
      ['https://b.example/22', 15 * MB - 2 * 21],
    ])
    const sent = { inlineData: { mimeType: 'image/png', data: 'AAAAAAAAAAAAAAAAAAAAAAAAAA==' } }
    expect(upstream.requests[0]!.body).toMatchObject({
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'What is this?' },
            sent,
            sent,
            { inlineData: { mimeType: 'image/png', data: 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=' } },
          ],
        },
      ],
    })
  })

  it('threat 57: count each time that they are used', async () => {
    const sizes: number[] = []
    const remoteContent: RemoteContent = async (_, { limit }) => {
      sizes.push(limit)
      return { type: 'image/png', data: 'A'.repeat(Math.floor(limit / 3) * 4) }
    }
    const upstream = fakeGoogle()
    const provider = google({ apiKey: 'x', transport: upstream.transport, remoteContent })
    await provider.chat.complete(request(...Array.from({ length: 37 }, () => 'https://a.example/1')), { signal })
    expect(sizes).toEqual([Math.floor((15 * MB) / 37)])
    expect(JSON.stringify(upstream.requests[0]!.body).length).toBeLessThan(21 * MB)
  })

  it('threat 49: are taken from the memory of the request, with the body that is made of them', async () => {
    const upstream = fakeGoogle()
    let left = 1_000
    const memory: Memory = {
      take(bytes) {
        left -= bytes
        if (left < 0) throw new ApiError(503, 'server_error', 'No memory', { code: 'overloaded' })
      },
    }
    const remoteContent: RemoteContent = async (_, options) => {
      options.memory!.take(200)
      return { type: 'image/png', data: 'A'.repeat(300) }
    }
    const { chat } = google({ apiKey: 'x', transport: upstream.transport, remoteContent })
    await chat!.complete(request('https://a.example/1', 'https://a.example/1'), { signal, memory })
    expect(left).toBe(200)
    await expect(chat!.stream(request('https://a.example/1'), { signal, memory })).rejects.toThrow('No memory')
    expect(upstream.requests).toHaveLength(1)
  })

  it('are not fetched where Google reads them, or the request contains them', async () => {
    const { asked, upstream, provider } = setUp()
    const file = 'https://generativelanguage.googleapis.com/v1beta/files/abc'
    await provider.chat.complete(request(file, 'data:image/png;base64,iVBORw0='), { signal })
    expect(asked).toEqual([])
    expect(JSON.stringify(upstream.requests[0]!.body)).toContain(`"fileUri":"${file}"`)
  })

  it('are at most 16 addresses', async () => {
    const { asked, provider } = setUp()
    const urls = Array.from({ length: 17 }, (_, at) => `https://a.example/${at}`)
    await expect(provider.chat.complete(request(...urls), { signal })).rejects.toMatchObject({ status: 400 })
    expect(asked).toEqual([])
  })

  it('are refused without remoteContent', async () => {
    const { transport, requests } = fakeGoogle()
    const provider = google({ apiKey: 'x', transport })
    const asked = request('https://a.example/1')
    await expect(provider.chat.complete(asked, { signal })).rejects.toMatchObject({ status: 400 })
    expect(requests).toEqual([])
    expect(() => provider.chat.preview(asked)).toThrow('remoteContent')
    expect(setUp().provider.chat.preview(asked)).toEqual([])
  })
})

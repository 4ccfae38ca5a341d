import { describe, expect, it } from 'vitest'
import { answer, completion, errorOf, testGateway, withKey } from '../../../../test/support/gateway.js'
import { guardedBy, hide, usage, wanted } from '../../../../test/support/guards.js'
import { joinText, parseStream } from '../../../../test/support/sse.js'
import type { Answered, Guard } from './guards.js'
import { refuse } from './guards.js'

describe("an answer in place of the upstream's", () => {
  const cached = {
    ...JSON.parse(completion().body as string),
    choices: [{ index: 0, message: { role: 'assistant', content: 'a secret' }, finish_reason: 'stop' }],
  } as Answered['answer']
  const cache: Guard = {
    name: 'cache',
    request: () => ({ answer: cached }),
    text: () => {
      throw new Error('not for itself')
    },
  }

  it('costs nothing, is named, and is good for streams', async () => {
    const { chat, upstream, records, logs } = await guardedBy([cache])
    const explain = { headers: { 'x-gateway-explain': 'true' } }
    const whole = await chat({}, explain)
    expect(await whole.json()).toEqual(cached)
    const stream = await chat(wanted, explain)
    const events = parseStream(await stream.text())
    expect([joinText(events), events.map((event) => event.type)]).toEqual([
      'a secret',
      ['chunk', 'chunk', 'chunk', 'done'],
    ])
    expect(events[2]).toMatchObject({ chunk: { choices: [], usage } })
    for (const { headers } of [whole, stream])
      expect([headers.get('x-gateway-answered-by'), headers.get('x-gateway-cost')]).toEqual(['cache', '0'])
    expect([upstream.requests, await records()]).toEqual([[], []])
    expect(logs[0]).toMatchObject({ guard: 'cache', task: 'chat', requested_model: 'gpt-4o' })
  })

  it('passes the guards before it, as a whole and as a stream, and is itself not changed', async () => {
    const { chat } = await guardedBy([{ name: 'cover', text: hide }, cache])
    expect(joinText(parseStream(await (await chat(wanted)).text()))).toBe('a ******')
    expect(await (await chat()).json()).toMatchObject({ choices: [{ message: { content: 'a ******' } }] })
    expect(JSON.stringify(cached)).toContain('a secret')
  })

  it('threat 69: is only for callers who may use the model', async () => {
    const { ask, upstream } = await withKey({ models: ['gpt-4o-mini'] }, { guards: [cache] })
    const refused = await ask({ model: 'gpt-4o' })
    expect([refused.status, refused.headers.get('x-gateway-answered-by')]).toEqual([403, null])
    expect((await ask({ model: 'gpt-4o-mini' })).status).toBe(200)
    expect((await ask({ model: 'no-such-model' })).status).toBe(403)
    expect(upstream.requests).toEqual([])
  })

  it('threat 69: is given by the rules of end users', async () => {
    const { ask, kv } = await withKey({ endUsers: { required: true, rate_limit: 2 } }, { guards: [cache] })
    const statuses: number[] = []
    for (const user of [undefined, 'a\nb', 'ada', 'ada', 'ada', 'bob']) statuses.push((await ask({ user })).status)
    expect(statuses).toEqual([400, 400, 200, 200, 429, 200])
    // Nothing is booked.
    expect((await kv.list(['end-user'])).items).toEqual([])
  })

  it('is a 500 where it has not the form of one', async () => {
    const { chat, errors } = await guardedBy([{ name: 'cache', request: () => ({ answer: { text: 'a' } }) }])
    expect((await chat()).status).toBe(500)
    expect(errors[0]).toMatchObject({ cause: { message: 'The guard cache failed' } })
  })
})

describe('the other endpoints', () => {
  const seen: Answered[] = []
  const all: Guard = {
    name: 'all',
    request: ({ task, request }) => {
      if (task === 'embeddings' || task === 'speech')
        return { request: { ...request, input: 'changed' } as typeof request }
      if (task === 'images') return { request: { ...request, prompt: 'changed' } }
      if (task === 'transcription') return { request: { ...request, prompt: 'changed' } }
      return undefined
    },
    text: hide,
    answer: (answered) => void seen.push({ ...answered }),
  }
  const form = (fields: object = {}) => {
    const form = new FormData()
    form.append('file', new Blob(['RIFF']), 'a.wav')
    for (const [name, value] of Object.entries({ model: 'whisper-1', ...fields })) form.append(name, value as string)
    return form
  }
  const requests: [string, string, object | FormData][] = [
    ['embeddings', '/v1/embeddings', { model: 'text-embedding-3-small', input: 'given' }],
    ['images', '/v1/images/generations', { model: 'gpt-image-2', prompt: 'given' }],
    ['speech', '/v1/audio/speech', { model: 'tts-1', input: 'given' }],
    ['transcription', '/v1/audio/transcriptions', form()],
  ]

  it.each(requests)(
    '%s: its requests are seen, changed and refused, and its answers seen',
    async (task, path, body) => {
      seen.length = 0
      const { send, upstream, records } = await testGateway({ guards: [all] })
      const response = await send('POST', path, body)
      expect(response.status).toBe(200)
      const sent = await response.arrayBuffer()
      expect(Buffer.from(upstream.requests.at(-1)!.bytes).toString()).toContain('changed')
      expect(seen).toMatchObject([{ task }])
      const [answered] = seen as [Answered]
      if (answered.task === 'speech') expect(Buffer.from(answered.answer.audio).equals(Buffer.from(sent))).toBe(true)
      else expect(answered.answer).toEqual(JSON.parse(Buffer.from(sent).toString()))
      expect(await records()).toHaveLength(1)

      for (const functions of [
        {
          request: () => {
            throw refuse('No')
          },
        },
        {
          answer: () => {
            throw refuse('No')
          },
        },
      ]) {
        const other = await testGateway({ guards: [{ name: 'no', ...functions }] })
        const refused = await other.send('POST', path, body)
        if (task === 'speech' && 'answer' in functions) await expect(refused.arrayBuffer()).rejects.toThrow()
        else expect(await errorOf(refused)).toMatchObject({ code: 'content_filter' })
        expect([other.upstream.requests.length, (await other.records()).length]).toEqual(
          'answer' in functions ? [1, 1] : [0, 0],
        )
      }

      // An answer that was seen stands in place of the next.
      const { answer: kept } = answered
      const again = await testGateway({ guards: [{ name: 'cache', request: () => ({ answer: kept }) }] })
      const given = await again.send('POST', path, body)
      expect(Buffer.from(await given.arrayBuffer()).equals(Buffer.from(sent))).toBe(true)
      expect([given.headers.get('x-gateway-answered-by'), again.upstream.requests, await again.records()]).toEqual([
        'cache',
        [],
        [],
      ])
    },
  )

  it('changes transcripts in every format', async () => {
    const upstream = () => answer({ text: 'a secret', duration: 1, segments: [{ start: 0, end: 1, text: 'a secret' }] })
    const { send } = await testGateway({ guards: [all], upstream })
    const path = '/v1/audio/transcriptions'
    expect(await (await send('POST', path, form())).json()).toMatchObject({ text: 'a ******' })
    const subtitles = await (await send('POST', path, form({ response_format: 'srt' }))).text()
    expect(subtitles).toBe('1\n00:00:00,000 --> 00:00:01,000\na ******\n\n')
  })
})

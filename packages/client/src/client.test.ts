import { describe, expect, it } from 'vitest'
import { failure, signedInClient, testClient } from '../../../test/support/client.js'
import { ADA } from '../../../test/support/platform.js'
import { createClient, PlatformError } from './index.js'

describe('requests', () => {
  it('have params, query and body, and answer with JSON or nothing', async () => {
    const { turnpike, sent } = await signedInClient()
    const { id } = await turnpike.post('/api/projects', { body: { name: 'Website' } })
    expect(await turnpike.get('/api/projects/{id}', { params: { id } })).toMatchObject({ id, name: 'Website' })
    expect(await turnpike.patch('/api/projects/{id}', { params: { id }, body: { name: 'Shop' } })).toMatchObject({
      name: 'Shop',
    })
    expect(await turnpike.delete('/api/projects/{id}', { params: { id } })).toBeUndefined()
    expect(sent).toEqual(['POST /api/projects', ...['GET', 'PATCH', 'DELETE'].map((m) => `${m} /api/projects/${id}`)])
  })

  it('tell their answer: status and headers', async () => {
    const { turnpike } = await signedInClient()
    const seen: Response[] = []
    await turnpike.get('/api/account', { onResponse: (response) => void seen.push(response) })
    expect(seen.map(({ status, headers }) => [status, typeof headers.get('x-request-id')])).toEqual([[200, 'string']])
  })

  it('encode parameters, and refuse those that would lead elsewhere', async () => {
    const { turnpike, sent } = await signedInClient()
    await failure(turnpike.get('/api/projects/{id}', { params: { id: 'a/b?c#d' } }))
    expect(sent).toEqual(['GET /api/projects/a%2Fb%3Fc%23d'])
    for (const id of ['', '.', '..'])
      expect(await failure(turnpike.delete('/api/projects/{id}', { params: { id } }))).toEqual(
        new TypeError('/api/projects/{id} needs the parameter id'),
      )
    expect(sent).toHaveLength(1)
  })

  it('take other headers along, and leave out what is undefined', async () => {
    const { turnpike, sent, upstream } = await signedInClient()
    await turnpike.get('/api/user-files', { query: { trashed: undefined as never, limit: 3 } })
    expect(sent).toEqual(['GET /api/user-files?limit=3'])
    const { id } = await turnpike.post('/api/projects', { body: { name: 'Website' } })
    await turnpike.post('/api/gateway/v1/chat/completions', {
      headers: { 'X-Project-ID': id },
      body: { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] },
    })
    expect(upstream.requests).toHaveLength(1)
    expect(await turnpike.get('/api/projects/{id}/spend', { params: { id } })).toMatchObject({ requests: 1 })
  })

  it('hand bytes on as a Blob', async () => {
    const { turnpike } = await signedInClient()
    const speech = await turnpike.post('/api/gateway/v1/audio/speech', {
      body: { model: 'tts-1', input: 'Hello', voice: 'alloy' },
    })
    expect([speech.type, speech.size > 0]).toEqual(['audio/mpeg', true])
  })

  it('send forms as they are', async () => {
    const { turnpike } = await signedInClient()
    const body = new FormData()
    body.append('model', 'whisper-1')
    body.append('file', new Blob([new Uint8Array(100)], { type: 'audio/mpeg' }), 'a.mp3')
    const { text } = (await turnpike.post('/api/gateway/v1/audio/transcriptions', { body })) as { text: string }
    expect(text).toMatch(/\w/)
  })

  it('end with the reason of their signal', async () => {
    const { turnpike } = await signedInClient()
    const reason = new Error('No longer needed')
    expect(await failure(turnpike.get('/api/account', { signal: AbortSignal.abort(reason) }))).toBe(reason)
  })
})

describe('lists', () => {
  it('come whole or in pages', async () => {
    const { turnpike, pass } = await signedInClient()
    for (const name of ['a', 'b', 'c']) {
      await turnpike.post('/api/projects', { body: { name } })
      pass(1)
    }
    const all = await turnpike.list('/api/projects')
    expect([all.items.map(({ name }) => name), all.next]).toEqual([['c', 'b', 'a'], undefined])
    const names: string[][] = []
    let after: string | undefined
    do {
      const { items, next } = await turnpike.list('/api/projects', { query: { limit: 2, ...(after && { after }) } })
      names.push(items.map(({ name }) => name))
      after = next
    } while (after !== undefined)
    expect(names).toEqual([['c', 'b'], ['a']])
  })

  it('of messages have pages as well, with the last ones first', async () => {
    const { turnpike, pass } = await signedInClient()
    const { id } = await turnpike.post('/api/projects', { body: { name: 'Website' } })
    const params = { id }
    for (const text of ['1', '2', '3']) {
      await turnpike.post('/api/projects/{id}/conversation/messages', { params, body: { text } })
      pass(1)
    }
    const last = await turnpike.list('/api/projects/{id}/conversation', { params, query: { limit: 2 } })
    expect(last.items.map(({ text }) => text)).toEqual(['2', '3'])
    const before = await turnpike.list('/api/projects/{id}/conversation', {
      params,
      query: { limit: 2, after: last.next! },
    })
    expect([before.items.map(({ text }) => text), before.next]).toEqual([['1'], undefined])
  })
})

describe('what is known', () => {
  it('is what a request resolves with until it changes', async () => {
    const { turnpike, sent } = await signedInClient()
    const { id } = await turnpike.post('/api/projects', { body: { name: 'Website' } })
    const query = { projectId: id }
    const known = await turnpike.list('/api/tasks', { query })
    const statuses: number[] = []
    const onResponse = ({ status }: Response) => void statuses.push(status)
    expect(await turnpike.list('/api/tasks', { query, known, onResponse })).toBe(known)
    await turnpike.post('/api/tasks', { body: { projectId: id, title: 'Headline' } })
    const changed = await turnpike.list('/api/tasks', { query, known, onResponse })
    expect(changed.items.map(({ title }) => title)).toEqual(['Headline'])
    expect(await turnpike.list('/api/tasks', { query, known: changed, onResponse })).toBe(changed)
    expect(statuses).toEqual([304, 200, 304])
    const conversation = await turnpike.get('/api/projects/{id}/conversation', { params: { id } })
    const again = await turnpike.get('/api/projects/{id}/conversation', { params: { id }, known: conversation })
    const last = await turnpike.get('/api/projects/{id}/conversation', { params: { id }, known: again })
    expect([last, again]).toEqual([conversation, conversation])
    expect(last).toBe(again)
    expect(sent.filter((one) => one.startsWith('GET'))).toHaveLength(7)
  })

  it('is read again where it has no version', async () => {
    const { turnpike } = await signedInClient()
    const known = await turnpike.get('/api/account')
    const read = await turnpike.get('/api/account', { known })
    expect(read).toEqual(known)
    expect(read).not.toBe(known)
  })
})

describe('errors', () => {
  it('of the platform have the status, the text and the request id', async () => {
    const { turnpike } = await signedInClient()
    const error = (await failure(turnpike.get('/api/projects/{id}', { params: { id: 'x' } }))) as PlatformError
    expect(error).toBeInstanceOf(PlatformError)
    expect(error).toMatchObject({ name: 'PlatformError', status: 404, message: 'There is no such project' })
    expect([error.code, error.details, error.retryAfter]).toEqual([undefined, undefined, undefined])
    expect(error.requestId).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('of the gateway have its code and the whole error', async () => {
    const { turnpike } = await signedInClient()
    const asked = turnpike.get('/api/gateway/v1/models/{model}', { params: { model: 'openai/none' } })
    expect(await failure(asked)).toMatchObject({
      status: 404,
      code: 'not_found',
      details: { type: 'not_found_error', code: 'not_found' },
    })
  })

  it.each([
    ['17', 17],
    ['0', 0],
    ['soon', undefined],
    [new Date(Date.now() - 60_000).toUTCString(), 0],
  ])('know the seconds of Retry-After: %s', async (header, seconds) => {
    const { turnpike, faults } = await testClient({ retries: 0 })
    faults.push(() => Response.json({ error: 'Slowly' }, { status: 429, headers: { 'retry-after': header } }))
    expect(await failure(turnpike.get('/api/account'))).toMatchObject({ retryAfter: seconds, message: 'Slowly' })
  })

  it.each(['<h1>Bad gateway</h1>', '', '"x"', 'null', '{"error":7}'])('need no body of ours: %s', async (body) => {
    const { turnpike, faults } = await testClient({ retries: 0 })
    faults.push(() => new Response(body, { status: 502 }))
    expect(await failure(turnpike.get('/api/account'))).toMatchObject({
      status: 502,
      message: 'The server answered 502',
      requestId: undefined,
    })
  })

  it('of the network are those of fetch', async () => {
    const { turnpike, faults } = await testClient({ retries: 0 })
    const broken = new TypeError('fetch failed')
    faults.push(() => broken)
    expect(await failure(turnpike.get('/api/account'))).toBe(broken)
  })

  it('never have the password or a token', async () => {
    const { turnpike } = await testClient()
    const error = (await failure(turnpike.signIn({ ...ADA, password: 'not the password' }))) as PlatformError
    expect([error.status, error.message]).toEqual([401, 'Invalid email or password'])
    expect(JSON.stringify({ ...error, stack: error.stack })).not.toContain('not the password')
  })
})

it('needs a baseUrl outside of a page', () => {
  expect(() => createClient()).toThrow(new TypeError('Outside of a page, a client needs a baseUrl'))
})

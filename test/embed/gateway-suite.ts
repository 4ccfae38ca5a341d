import { ChatCompletion, ModelList } from '@turnpike/core'
import type { Gateway } from '@turnpike/gateway'
import * as v from 'valibot'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { held, never, streaming, textEvent } from '../support/faults.js'
import { uuidv7Pattern } from '../support/patterns.js'
import { joinText, parseStream } from '../support/sse.js'
import { bodyCases } from './body-cases.js'
import { endpointCases } from './endpoint-cases.js'
import { expectError, expectHeaders, jsonType } from './expect.js'
import type { Host, Setup } from './setup.js'
import { question, setUp } from './setup.js'

/** What is the host's own business. */
export interface SuiteOptions {
  /** Path below which the host serves the gateway; default ''. */
  prefix?: string
  /** True where the host answers paths that the gateway does not know; default false. */
  ownNotFound?: boolean
  /** True where the host has parsed bodies, and so refuses bad ones itself; default false. */
  ownBodies?: boolean
}

const answer = 'This is a simulated answer. You said: Hello there'

/** What a gateway must do in every host. */
export function gatewaySuite(
  name: string,
  start: (gateway: Gateway) => Promise<Host>,
  { prefix = '', ownNotFound = false, ownBodies = false }: SuiteOptions = {},
): void {
  describe(name, () => {
    let setup: Setup
    let host: Host
    beforeAll(async () => {
      setup = await setUp()
      host = await start(setup.gateway)
    })
    afterEach(() => {
      setup.fault = undefined
    })
    afterAll(() => host.close())

    const call = (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(host.url + prefix + path, {
        ...init,
        headers: { authorization: `Bearer ${setup.key}`, ...(init.headers as Record<string, string>) },
      })
    const post = (body: string | ReadableStream, init: RequestInit = {}): Promise<Response> =>
      call('/v1/chat/completions', {
        method: 'POST',
        body,
        ...(typeof body !== 'string' && { duplex: 'half' }),
        ...init,
        headers: { 'content-type': 'application/json', ...(init.headers as Record<string, string>) },
      })

    it('answers a conversation', async () => {
      const before = setup.upstream.requests.length
      const response = await post(JSON.stringify(question))
      expect(response.status).toBe(200)
      const bytes = await response.text()
      expectHeaders(response, { 'content-type': jsonType, 'content-length': String(Buffer.byteLength(bytes)) })
      const { choices, usage } = v.parse(ChatCompletion, JSON.parse(bytes))
      expect(choices).toEqual([
        {
          index: 0,
          message: { role: 'assistant', content: answer, refusal: null, annotations: [] },
          logprobs: null,
          finish_reason: 'stop',
        },
      ])
      expect(usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 13, total_tokens: 24 })
      const [asked, ...more] = setup.upstream.requests.slice(before)
      expect(asked!.body).toEqual(question)
      expect(more).toEqual([])
    })

    it('streams a conversation to [DONE]', async () => {
      const response = await post(
        JSON.stringify({ ...question, stream: true, stream_options: { include_usage: true } }),
      )
      expect(response.status).toBe(200)
      expectHeaders(response, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'private, no-store, no-transform',
        'x-accel-buffering': 'no',
        'content-length': null,
      })
      const events = parseStream(await response.text())
      expect(joinText(events)).toBe(answer)
      expect(events.at(-1)).toEqual({ type: 'done' })
      expect(events.at(-2)).toMatchObject({ chunk: { choices: [], usage: { prompt_tokens: 11, total_tokens: 24 } } })
    })

    it('passes on each event immediately', async () => {
      const { piece: rest, send } = held()
      setup.fault = streaming(textEvent('Hello'), rest, 'data: [DONE]\n\n')
      const response = await post(JSON.stringify({ ...question, stream: true }))
      let text = ''
      for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
        text += piece
        if (text.includes('Hello')) send(textEvent(' there', 'stop'))
      }
      expect(joinText(parseStream(text))).toBe('Hello there')
    })

    it('ends a broken stream with an error event', async () => {
      const { piece: rest, send } = held()
      setup.fault = streaming(textEvent('Hello'), rest)
      const response = await post(JSON.stringify({ ...question, stream: true }))
      let text = ''
      for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
        text += piece
        send('')
      }
      const message = 'The upstream provider ended its answer before it was whole'
      expect(parseStream(text).at(-1)).toEqual({
        type: 'error',
        error: { type: 'upstream_error', code: 'upstream_truncated', message },
      })
    })

    it('lists the models', async () => {
      const response = await call('/v1/models')
      expect(response.status).toBe(200)
      expectHeaders(response, { 'content-type': jsonType })
      const { data } = v.parse(ModelList, await response.json())
      expect(data).toContainEqual(expect.objectContaining({ id: 'gpt-4o-mini', provider: 'openai' }))
    })

    it.each(['gpt-4o-mini', 'openai/gpt-4o-mini', 'openai%2Fgpt-4o-mini', 'openai%2fgpt-4o-mini?a=b'])(
      'describes the model %s',
      async (id) => {
        const response = await call(`/v1/models/${id}`)
        expect(response.status).toBe(200)
        expectHeaders(response, { 'content-type': jsonType })
        expect(await response.json()).toMatchObject({ id: 'gpt-4o-mini', object: 'model', provider: 'openai' })
      },
    )

    it('answers 404 for an unknown model', async () => {
      const message = 'There is no model with this id'
      await expectError(await call('/v1/models/openai/none'), 404, 'not_found_error', 'not_found', message)
    })

    if (!ownNotFound)
      it.each([
        ['/nothing', ''],
        ['/v1', ''],
        ['/v1/', ''],
        ['/v1/models/', ' Did you mean /v1/models?'],
        ['/v1/chat/completions/', ' Did you mean /v1/chat/completions?'],
        ['//v1/models', ' Did you mean /v1/models?'],
        ['/V1/models', ' Did you mean /v1/models?'],
      ])('answers 404 at %s', async (path, hint) => {
        const message = `There is nothing at ${path}.${hint}`
        await expectError(await call(path), 404, 'not_found_error', 'not_found', message)
      })

    it.each([
      ['DELETE', '/v1/chat/completions', 'POST, OPTIONS'],
      ['GET', '/v1/chat/completions', 'POST, OPTIONS'],
      ['POST', '/v1/models', 'GET, HEAD, OPTIONS'],
      ['PUT', '/v1/models/openai/gpt-4o-mini', 'GET, HEAD, OPTIONS'],
    ])('answers 405 to %s %s', async (method, path, allow) => {
      const response = await call(path, { method })
      expectHeaders(response, { allow })
      const message = `This path takes ${allow}`
      await expectError(response, 405, 'method_not_allowed', 'method_not_allowed', message)
    })

    it('answers OPTIONS with 204, without a key', async () => {
      const response = await fetch(`${host.url}${prefix}/v1/chat/completions`, { method: 'OPTIONS' })
      expect(response.status).toBe(204)
      expectHeaders(response, { allow: 'POST, OPTIONS', 'access-control-allow-origin': null })
      expect(await response.text()).toBe('')
    })

    it('answers HEAD as GET, without the body', async () => {
      const response = await call('/v1/models', { method: 'HEAD' })
      expect(response.status).toBe(200)
      expectHeaders(response, { 'content-type': jsonType })
      expect(await response.text()).toBe('')
      const { status } = await call('/v1/models/none', { method: 'HEAD' })
      expect(status).toBe(404)
    })

    it.each([undefined, 'Bearer gw-unknown-key-0123456789', 'Basic Z3c6', 'Bearer '])(
      'answers 401 to the authorization %s',
      async (authorization) => {
        const response = await fetch(`${host.url}${prefix}/v1/models`, {
          headers: authorization === undefined ? {} : { authorization },
        })
        expectHeaders(response, { 'www-authenticate': 'Bearer' })
        const message = 'A valid gateway key is needed: Authorization: Bearer gw-…'
        await expectError(response, 401, 'authentication_error', 'invalid_api_key', message)
      },
    )

    it.each([
      { mode: 'a stream', stream: true, fault: () => streaming(textEvent('Hello'), never) },
      { mode: 'an answer', stream: false, fault: () => streaming(never) },
    ])('leaves the upstream when the client leaves $mode', async ({ stream, fault }) => {
      setup.fault = fault()
      const client = new AbortController()
      const gone = post(JSON.stringify({ ...question, stream }), { signal: client.signal })
        .then((response) => response.text())
        .catch((error: unknown) => error)
      await expect.poll(() => setup.upstream.active).toBe(1)
      client.abort()
      await expect.poll(() => setup.upstream.active).toBe(0)
      expect(await gone).toMatchObject({ name: 'AbortError' })
      if (!stream) return
      const newest = async () => (await setup.gateway.ledger.records(setup.userId, { limit: 1 })).items[0]
      await expect.poll(newest).toMatchObject({ outcome: 'client_abort' })
    })

    bodyCases(() => setup, post, { ownBodies })

    endpointCases(() => setup, call)

    it('gives each request an id of its own', async () => {
      const responses = await Promise.all([call('/health'), call('/health'), call('/v1/models'), call('/v1/models/x')])
      const ids = responses.map(({ headers }) => headers.get('x-request-id'))
      for (const id of ids) expect(id).toMatch(uuidv7Pattern)
      expect(new Set(ids).size).toBe(ids.length)
      await Promise.all(responses.map((response) => response.text()))
    })
  })
}

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { FamiliesStack } from '../clients/families-stack.js'
import { startFamilies } from '../clients/families-stack.js'
import { endpoints, paths, requestOf } from '../endpoints/endpoints.js'
import { runtime } from '../support/runtime.js'
import { sample } from '../support/scope.js'

const families = { openai: 'gpt-4o-mini', anthropic: 'claude-sonnet-4-5', google: 'gemini-2.5-flash' } as const
type Family = keyof typeof families
const names = Object.keys(families) as Family[]

let stack: FamiliesStack
/** Somewhere that no request must be sent to. */
let elsewhere: FamiliesStack
beforeAll(async () => {
  ;[stack, elsewhere] = await Promise.all([startFamilies(), startFamilies()])
})
afterAll(() => Promise.all([stack.stop(), elsewhere.stop()]))
beforeEach(() => {
  stack.fault = undefined
})

async function post(path: string, body: object, headers: Record<string, string> = {}) {
  const asked = body instanceof FormData ? new Response(body) : Response.json(body)
  const response = await fetch(new URL(path, stack.url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${stack.key}`,
      'content-type': asked.headers.get('content-type')!,
      ...headers,
    },
    body: await asked.arrayBuffer(),
  })
  const head = JSON.stringify([...response.headers])
  return { status: response.status, headers: response.headers, text: await response.text(), head }
}
const chat = (body: object, headers: Record<string, string> = {}) =>
  post('/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }], ...body }, headers)

const requests = (at: FamiliesStack = stack) => names.flatMap((name) => at.upstreams[name].requests)

describe(`threat 2: a base URL or key of the caller's choice, on ${runtime}`, () => {
  const place = {
    api_base: '',
    base_url: '',
    extra_query: {},
    custom_llm_provider: 'openai',
    api_version: '1',
    Extra_Body: {},
  }
  /** Fields and headers that name another upstream, and a key for it. */
  const attack = (url: string) => {
    const fields = { ...place, api_base: url, base_url: url, api_key: 'sk-caller' }
    return {
      body: { ...fields, extra_body: fields, extra_headers: { authorization: 'Bearer sk-caller', host: url } },
      headers: {
        'x-base-url': url,
        'x-api-base': url,
        'x-portkey-custom-host': url,
        'x-forwarded-host': new URL(url).host,
        'openai-organization': 'org-caller',
        'x-api-key': 'sk-caller',
        'x-goog-api-key': 'sk-caller',
      },
    }
  }

  it.each(names)('does not change where, or with which key, a request is sent to %s', async (name) => {
    const { body, headers } = attack(elsewhere.url)
    const before = requests().length
    const { status, headers: answered } = await chat({ model: families[name], ...body }, headers)
    expect([status, requests().length - before, requests(elsewhere).length]).toEqual([200, 1, 0])
    const sent = stack.upstreams[name].requests.at(-1)!
    expect(JSON.stringify([sent.headers, sent.body])).not.toMatch(
      new RegExp(`caller|api_|base_url|extra_|${new URL(elsewhere.url).host}`),
    )
    const [action, dropped = ''] = answered.get('x-gateway-warnings')!.split('=')
    expect([action, dropped.split(',').toSorted()]).toEqual(['dropped', Object.keys(body).toSorted()])
  })

  it.each(endpoints)('nor does it for %s', async (endpoint) => {
    const { body, headers } = attack(elsewhere.url)
    const form = endpoint === 'transcription'
    const request = form
      ? requestOf(endpoint, { api_base: elsewhere.url, base_url: elsewhere.url, api_key: 'sk-caller' })
      : requestOf(endpoint, body)
    const { status, headers: answered } = await post(paths[endpoint], request, headers)
    expect([status, requests(elsewhere).length]).toEqual([200, 0])
    const sent = stack.upstreams.openai.requests.at(-1)!
    expect(JSON.stringify(sent.headers) + Buffer.from(sent.bytes).toString()).not.toMatch(/caller|api_|base_url|extra_/)
    expect(answered.get('x-gateway-warnings')).toContain('api_key,')
  })

  it('leaves what is the data of the caller as it is', async () => {
    const metadata = { api_base: elsewhere.url }
    await chat({ model: families.openai, store: true, metadata })
    expect(stack.upstreams.openai.requests.at(-1)!.body).toMatchObject({ metadata })
    expect(requests(elsewhere)).toEqual([])
  })
})

describe(`threat 3: a model id that would change the upstream's URL, on ${runtime}`, () => {
  const ids = [
    '../../x?key=',
    '../gemini-2.5-flash',
    'gemini-2.5-flash/../../x',
    'gemini-2.5-flash?key=mine',
    'gemini-2.5-flash#b',
    'gemini-2.5-flash:streamGenerateContent?x',
    'gemini-2.5-flash%2f..',
    'models/../x',
    'gemini-2.5-flash\\..\\x',
    'gemini-2.5-flash\r\nx: y',
    'gemini-2.5-flash\u0000',
    'gemini-2.5-flash /x',
    '@evil.example/',
    '//evil.example/x',
    'gemini-ｅ／../x',
    `gemini-${'x'.repeat(10_000)}`,
  ]
  const pathsOf: Record<Family, RegExp> = {
    openai: /^\/v1\/chat\/completions$/,
    anthropic: /^\/v1\/messages$/,
    // In the path, and so only of plain segments.
    google: /^\/v1beta\/models\/[\w.@-]+:(streamGenerateContent\?alt=sse|generateContent)$/,
  }

  it.each(names)('leaves the path of %s as it is', async (name) => {
    const before = stack.upstreams[name].requests.length
    for (const id of ids)
      for (const stream of [false, true]) {
        const { status, text } = await chat({ model: id, provider: name, stream })
        // OpenAI and Claude get it as data.
        if (name === 'google' || id.length > 256)
          expect([id, status, text.includes('model_not_found')]).toEqual([id, 400, true])
        else expect([id, status]).toEqual([id, 200])
      }
    const sent = stack.upstreams[name].requests.slice(before).map(({ path }) => path)
    expect(sent.filter((path) => !pathsOf[name].test(path))).toEqual([])
  })
})

describe(`threat 5: an upstream's error that tells of its account, on ${runtime}`, () => {
  const secrets = [
    'sk-canary-0123456789abcdef',
    'sk-proj-canary_0123456789',
    'sk-ant-api03-canary-0123456789',
    'AIzaSyCanary0123456789_abcdefghijklmn',
    'org-canary0123456789',
    'proj_canary0123456789',
    'https://canary.internal.example:8443/v1?key=canary',
    'Bearer canary.0123456789',
    'Basic Y2FuYXJ5OmNhbmFyeQ==canary',
    'postgres://app:canary@db.internal/x',
    'canary-7.internal.corp.local',
    'canary-7:8080',
    '10.1.2.3:8080/canary',
    'ghp_canary0123456789',
    'xoxb-canary-0123456789',
    'AKIACANARY0123456789',
    'eyJcanary.eyJcanary',
    'ops@canary.example',
    '/srv/models/canary',
    'project_number:canary0123456789',
    'password=canary',
    // That of the configuration, whatever its form.
    'upstream-0123456789',
  ]
  const bodies: Record<Family, (message: string) => object> = {
    openai: (message) => ({ error: { message, type: message, param: message, code: message } }),
    anthropic: (message) => ({ type: 'error', error: { type: message, message }, request_id: message }),
    google: (message) => ({ error: { code: 400, message, status: message, details: [{ reason: message }] } }),
  }

  it.each(names)('is not in the answer, from %s', async (name) => {
    const error = bodies[name](`Wrong: ${secrets.join(' and ')}.`)
    for (const status of sample([400, 401, 404, 429, 500, 402, 403, 409, 413, 422, 502, 503, 529], 5))
      for (const body of [JSON.stringify(error), secrets.join('\n'), `<html>${secrets.join()}</html>`]) {
        stack.fault = () => ({
          status,
          headers: { 'content-type': 'application/json', 'x-secret': secrets[0]!, 'retry-after': '1' },
          body,
        })
        for (const stream of [false, true]) {
          const { status: answered, text, head } = await chat({ model: families[name], stream })
          expect([status, answered >= 400, leaks(text + head)]).toEqual([status, true, []])
        }
      }
  })

  it.each(names)('is not in the answer where it is within a stream or an answer of 200, from %s', async (name) => {
    const error = JSON.stringify(bodies[name](`Wrong: ${secrets.slice(0, -1).join(' and ')}.`))
    for (const stream of [false, true]) {
      stack.fault = () => ({
        status: 200,
        headers: { 'content-type': stream ? 'text/event-stream' : 'application/json' },
        body: stream ? `data: ${error}\n\n` : error,
      })
      const { text, head } = await chat({ model: families[name], stream })
      expect([text.includes('"error"'), leaks(text + head)]).toEqual([true, []])
    }
  })

  it.each(names)('is not in the log, nor are more than a few words of it, from %s', async (name) => {
    const long = `${'x'.repeat(1_500_000)} ${secrets[0]!}`
    for (const word of [...secrets, long]) {
      const error = JSON.stringify(bodies[name](word))
      for (const stream of word === secrets.at(-1) ? [false] : [false, true]) {
        const before = stack.server.output().length
        const type = stream ? 'text/event-stream' : 'application/json'
        stack.fault = () => ({
          status: stream ? 200 : 502,
          headers: { 'content-type': type },
          body: stream ? `data: ${error}\n\n` : error,
        })
        await chat({ model: families[name], stream })
        const logged = () => stack.server.output().slice(before)
        await expect.poll(logged).toMatch(/"msg":"request"\}\n/)
        const longest = Math.max(
          ...logged()
            .split('\n')
            .map((line) => line.length),
        )
        expect([word.slice(0, 50), leaks(logged()), longest < 4_000]).toEqual([word.slice(0, 50), [], true])
      }
    }
  })

  /** The secrets that are in an answer or a log. */
  const leaks = (text: string): string[] => text.match(/[\w-]*canary[\w-]*|upstream-0123456789/gi) ?? []
})

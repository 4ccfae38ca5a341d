/** Texts of a request that become a part of a key of the store, which has at most 2,000 characters (`encodeKey`): none may be an error of the server. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Owner, Sent } from './requests.js'
import { documented, newOwner, requestsOf } from './requests.js'
import { chat, worldSuite } from './world.js'

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
}

const documents = (['gateway', 'platform'] as const).map((name) => ({
  routes: documented(name),
  paths: (
    JSON.parse(readFileSync(new URL(`../../docs/openapi/${name}.json`, import.meta.url), 'utf8')) as {
      paths: Record<string, Record<string, { parameters?: Parameter[] }>>
    }
  ).paths,
}))

/** Texts, as they are written in JSON, and as in a path or a query; headers hold the visible ones only. */
const texts: Record<string, [text: string, encoded: string]> = Object.fromEntries(
  Object.entries({
    '5,000 letters': 'x'.repeat(5_000),
    // One character of them is three bytes, six digits of a key.
    '700 characters that keys escape': '\u20ac'.repeat(700),
    'control characters': '\u0000\u0007\u001f\u007f\u2028',
    'what separates keys': '/~/../~00//',
    'the name of a prototype': '__proto__',
    empty: '',
  }).map(([name, text]) => [name, [text, encodeURIComponent(text)]]),
)
texts['half of a surrogate pair'] = ['\ud800', '%ED%A0%80']
texts['half of a pair within letters'] = [`a\udc00b`, 'a%ED%B0%80b']

/** Good requests to the gateway; those of the platform are known. */
const ofGateway: Record<string, Sent> = {
  'POST /v1/chat/completions': { path: '/v1/chat/completions', body: { ...chat, user: 'ada', prompt_cache_key: 'a' } },
  'POST /v1/embeddings': { path: '/v1/embeddings', body: { model: 'text-embedding-3-small', input: 'a', user: 'ada' } },
  'POST /v1/images/generations': { path: '/v1/images/generations', body: { prompt: 'a', user: 'ada' } },
  'POST /v1/audio/speech': { path: '/v1/audio/speech', body: { model: 'tts-1', input: 'a', voice: 'alloy' } },
}
/** Headers that are read, or could be, though no document names them. */
const others = [
  'idempotency-key',
  'last-event-id',
  'x-request-id',
  'user-agent',
  'x-forwarded-for',
  'if-none-match',
].map((name): Parameter => ({ name, in: 'header' }))

/** Requests with one text in one place, by their names. */
function* requests(
  owner: Owner,
): Generator<
  [name: string, method: string, sent: { path: string; body?: object | undefined; headers?: Record<string, string> }]
> {
  const good = { ...ofGateway, ...requestsOf(owner) }
  for (const { routes, paths } of documents)
    for (const [path, methods] of Object.entries(paths))
      for (const [small, { parameters = [] }] of Object.entries(methods)) {
        const method = small.toUpperCase()
        const route = `${method} ${path}`
        if (!routes.includes(route)) continue
        const sent = good[route] ?? { path }
        const body = sent.body && !(sent.body instanceof FormData) ? sent.body : undefined
        for (const [what, [text, encoded]] of Object.entries(texts)) {
          const name = (place: string): string => `${route}: ${place} = ${what}`
          for (const { name: parameter, in: place } of method === 'GET' ? [...parameters, ...others] : parameters) {
            // With a good path, it would end what others need.
            if (method === 'DELETE' && place !== 'path') continue
            if (place === 'header' && method !== 'GET' && !(route in ofGateway)) continue
            if (place === 'path') {
              // The others lead to what the owner has.
              const steps = path.split('/')
              const known = sent.path.split('?')[0]!.split('/')
              const at = steps.map((step, i) =>
                step === `{${parameter}}` ? encoded : step.startsWith('{') ? (known[i] ?? 'a') : step,
              )
              yield [name(parameter), method, { path: at.join('/'), body }]
            } else if (place === 'query') {
              const [start, rest = ''] = sent.path.split('?')
              const kept = rest.split('&').filter((one) => one !== '' && !one.startsWith(`${parameter}=`))
              yield [
                name(parameter),
                method,
                { path: `${start}?${[...kept, `${parameter}=${encoded}`].join('&')}`, body },
              ]
            } else if (/^[\x20-\x7e]*$/.test(text))
              yield [name(parameter), method, { ...sent, headers: { [parameter]: text } }]
          }
          // By each field that a text can be.
          for (const [field, value] of Object.entries(body ?? {}))
            if (typeof value === 'string')
              yield [name(`body.${field}`), method, { path: sent.path, body: { ...body, [field]: text } }]
          if (sent.body instanceof FormData) {
            const form = new FormData()
            form.append('file', new Blob(['bytes'], { type: 'text/plain' }), text || 'a')
            yield [name('file name'), method, { path: sent.path, body: form }]
          }
        }
      }
}

worldSuite('texts that keys of the store cannot hold', (world) => {
  it('are no error of the server, in whichever parameter or field', async () => {
    const owner = await newOwner(world(), 'admin')
    const wrong: string[] = []
    const statuses = new Map<number, number>()
    for (const [name, method, { path, body, headers }] of requests(owner)) {
      const end = new AbortController()
      const { status } = await fetch(world().url + path, {
        method,
        headers: {
          authorization: `Bearer ${path.startsWith('/v1/') ? owner.key : owner.access}`,
          ...(body && !(body instanceof FormData) && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: body instanceof FormData ? body : JSON.stringify(body) }),
        signal: end.signal,
      })
      end.abort()
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status >= 500) wrong.push(`${status} ${name}`)
    }
    expect(wrong).toEqual([])
    for (const status of [200, 400, 404]) expect(statuses.get(status)).toBeGreaterThan(50)
  })
})

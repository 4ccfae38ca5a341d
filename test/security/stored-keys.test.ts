import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { documented } from '../platform/requests.js'
import { endEngines, newFolder } from '../support/engines.js'
import { runtime, runtimePath } from '../support/runtime.js'
import { startServer } from '../support/server.js'

/** An upstream that repeats in an error what it was sent, as bad ones do. */
async function repeater() {
  let calls = 0
  const sent = (request: IncomingMessage, body: string): string =>
    `Incorrect credentials: ${JSON.stringify(request.headers)} ${body}`
  const server = createServer(async (request, response) => {
    calls++
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const message = sent(request, body)
    response
      .writeHead([401, 400, 500][calls % 3]!, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: { message, code: message, status: message }, message, error_description: message }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls: () => calls }
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/** A stored provider of each kind of credential, and what must not be seen of it. */
function slots(url: string): { settings: Record<string, unknown>; secrets: string[] }[] {
  const headers = { 'X-Team-Key': 'canary-header-0123456789' }
  const azure = { type: 'azure', baseURL: url, models: ['gpt-4o'] }
  const bedrock = {
    type: 'bedrock',
    region: 'us-east-1',
    baseURL: url,
    models: ['us.anthropic.claude-haiku-4-5-20251001-v1:0'],
  }
  const account = { client_email: 'a@b.example', private_key: pem, token_uri: `${url}/token`, project_id: 'p' }
  return [
    {
      settings: { type: 'openai', apiKey: 'sk-canary-openai-0123456789', baseURL: url, models: ['gpt-4o'], headers },
      secrets: ['sk-canary-openai-0123456789', 'canary-header-0123456789'],
    },
    {
      settings: { type: 'anthropic', apiKey: 'sk-ant-canary-0123456789', baseURL: url, models: ['claude-haiku-4-5'] },
      secrets: ['sk-ant-canary-0123456789'],
    },
    {
      settings: { type: 'google', apiKey: 'AIzaCanary0123456789', baseURL: url, models: ['gemini-2.5-flash'] },
      secrets: ['AIzaCanary0123456789'],
    },
    { settings: { ...azure, apiKey: 'canary-azure-key-0123456789' }, secrets: ['canary-azure-key-0123456789'] },
    { settings: { ...azure, token: 'canary-azure-token-0123456789' }, secrets: ['canary-azure-token-0123456789'] },
    { settings: { ...bedrock, apiKey: 'ABSKCanaryBedrock0123456789' }, secrets: ['ABSKCanaryBedrock0123456789'] },
    {
      settings: {
        ...bedrock,
        credentials: {
          accessKeyId: 'AKIACANARY0123456789',
          secretAccessKey: 'canary-secret-0123456789',
          sessionToken: 'canary-session-0123456789',
        },
      },
      secrets: ['AKIACANARY0123456789', 'canary-secret-0123456789', 'canary-session-0123456789'],
    },
    {
      settings: { type: 'vertex', credentials: JSON.stringify(account), baseURL: url, models: ['gemini-2.5-flash'] },
      secrets: pem.split('\n').filter((line) => line.length > 20 && !line.startsWith('-')),
    },
    {
      settings: {
        type: 'vertex',
        project: 'p',
        token: 'ya29.canary-token-0123456789',
        baseURL: url,
        models: ['gemini-2.5-flash'],
      },
      secrets: ['ya29.canary-token-0123456789'],
    },
    {
      settings: { type: 'openrouter', apiKey: 'sk-or-v1-canary-0123456789', baseURL: url, models: ['a/b'] },
      secrets: ['sk-or-v1-canary-0123456789'],
    },
  ]
}

it(`threat 77: a stored credential of any kind is in no answer, log, list, store or dump, on ${runtime}`, async () => {
  const folder = await newFolder()
  onTestFinished(endEngines)
  const upstream = await repeater()
  const ADMIN_TOKEN = 'admin-token-0123456789'
  const env = { STORAGE: `fs:${folder}`, SESSION_SECRET: 's'.repeat(40), LOG: 'debug', ADMIN_TOKEN }
  const server = await startServer({ ...env, BOOTSTRAP_GATEWAY_RATE_LIMIT: '1000000' })
  const seen: string[] = []
  const ask = async (method: string, path: string, body?: object, key = ADMIN_TOKEN) => {
    const stop = new AbortController()
    const response = await fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-gateway-explain': 'true' },
      ...(body && { body: JSON.stringify(body) }),
      signal: stop.signal,
    })
    const text = path === '/admin/events' ? '' : await response.text()
    stop.abort()
    seen.push(`${path} ${response.status} ${JSON.stringify([...response.headers])} ${text}`)
    return { status: response.status, text }
  }
  const all = slots(upstream.url)
  for (const [i, { settings }] of all.entries()) {
    const given = { ...settings, id: `slot-${i}` }
    const created = await ask('POST', '/admin/providers', given)
    expect([i, created.status, created.text]).toEqual([i, 200, expect.any(String)])
    await ask('POST', '/admin/providers/probe', given)
    const { entry } = JSON.parse(created.text) as { entry: string }
    const before = upstream.calls()
    const model = `slot-${i}/${(settings['models'] as string[])[0]!}`
    const messages = [{ role: 'user', content: 'Hi' }]
    for (let n = 0; n < 3; n++)
      for (const stream of [false, true])
        await ask('POST', '/v1/chat/completions', { model, messages, stream }, server.key)
    expect([i, upstream.calls() > before]).toEqual([i, true])
    await ask('POST', `/admin/providers/${entry}/probe`)
    await ask('PATCH', `/admin/providers/${entry}`, { weight: 2 })
    await ask('PATCH', `/admin/providers/${entry}`, { baseURL: 'ftp://x' })
  }
  const queries: Record<string, string> = { '/admin/usage': '?by=user', '/admin/usage/hours': '?by=user&id=a' }
  const reads = documented('gateway').flatMap((route) => {
    const path = /^GET (\/admin\/.*)$/.exec(route)?.[1]
    return path === undefined || path.includes('{') ? [] : path + (queries[path] ?? '')
  })
  for (const path of [...reads, '/health/providers', '/metrics', '/v1/models', '/admin', '/console'])
    await ask('GET', path)
  await server.stop()

  const script = fileURLToPath(new URL('../../examples/server/dist/storage.js', import.meta.url))
  const { stdout: dump } = await promisify(execFile)(runtimePath(), [script, 'export', env.STORAGE], {
    maxBuffer: 2 ** 28,
  })
  expect(dump).toContain('slot-0')
  const secrets = all.flatMap((one) => one.secrets)
  const found = (text: string): string[] => secrets.filter((secret) => text.includes(secret))
  expect(seen.filter((text) => found(text).length > 0)).toEqual([])
  expect(found(server.output())).toEqual([])
  expect(found(dump)).toEqual([])
})

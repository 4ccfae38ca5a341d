import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import type { Server } from '../support/server.js'
import { openNavigation } from './console.js'
import { startServer } from '../support/server.js'

const TOKEN = 'token-of-administrators'
export const EMAIL = 'ada@example.org'
export const PASSWORD = 'the password of the tests'

/** A gateway whose upstream answers, but fails with `gpt-4o` and is busy with `gpt-4.1`. */
export interface DashboardServer extends Server {
  /** Sends a chat. @returns the id of the request */
  chat(fields: object, key?: string): Promise<string>
  /** Sends a request to the platform or the gateway as the administrator. */
  send<T>(method: string, path: string, body?: object): Promise<T>
}

/** Starts the reference server before an OpenAI in this process. */
export async function startDashboard(env: Record<string, string> = {}): Promise<DashboardServer> {
  const upstream = createServer(async (request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.method === 'GET') return response.end('{"object":"list","data":[]}')
    const { model } = (await json(request)) as { model: string }
    if (!model.startsWith('gpt-')) {
      response.statusCode = 404
      return response.end('{"error":{"message":"none","code":"model_not_found"}}')
    }
    const failure = { 'gpt-4o': 500, 'gpt-4.1': 429 }[model]
    if (failure !== undefined) {
      response.statusCode = failure
      return response.end('{"error":{"message":"no"}}')
    }
    const choice = { index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
    const answer = { id: 'a', object: 'chat.completion', created: 1_770_933_892, model, choices: [choice], usage }
    return response.end(JSON.stringify(answer))
  }).listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const server = await startServer({
    OPENAI_BASE_URL: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`,
    MODEL_GROUPS: 'fast=openai/gpt-4o-mini,openai/gpt-4.1-nano;unsteady=openai/gpt-4.1,openai/gpt-4o-mini',
    ADMIN_TOKEN: TOKEN,
    ADMIN_EMAIL: EMAIL,
    ...env,
  })
  const post = (path: string, token: string, body: object): Promise<Response> =>
    fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    })
  const signedIn = await post('/api/auth', '', { email: EMAIL, password: PASSWORD })
  const { access_token } = (await signedIn.json()) as { access_token: string }
  return {
    ...server,
    async stop() {
      upstream.closeAllConnections()
      upstream.close()
      return server.stop()
    },
    async chat(fields, key = server.key) {
      const messages = [{ role: 'user', content: 'Hello!' }]
      const response = await post('/v1/chat/completions', key, { model: 'gpt-4o-mini', messages, ...fields })
      await response.text()
      return response.headers.get('x-request-id')!
    },
    async send<T>(method: string, path: string, body?: object) {
      const response = await fetch(server.url + path, {
        method,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${access_token}` },
        ...(body && { body: JSON.stringify(body) }),
      })
      return (response.status === 204 ? undefined : await response.json()) as T
    },
  }
}

/** Opens the dashboard and signs in by the token. */
export async function openDashboard(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/admin`)
  await page.getByRole('button', { name: 'Key or token' }).click()
  await page.getByLabel('Gateway key or ADMIN_TOKEN').fill(TOKEN)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
}

/** Goes to a page by its link. */
export async function goTo(page: Page, name: string): Promise<void> {
  await openNavigation({ page })
  await page.getByRole('navigation').getByRole('link', { name }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
}

import type { Budget } from '@turnpike/core'
import { createGateway } from '@turnpike/gateway'
import { parseCookies } from '@turnpike/http'
import type { Identity } from '@turnpike/platform'
import { createPlatform } from '@turnpike/platform'
import { createRouter, openai } from '@turnpike/providers'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { postgresKV } from '@turnpike/storage'
import type { Customer } from './customers.js'
import { customerOf, pool } from './customers.js'

/** What each plan includes. */
export const budgets: Record<Customer['plan'], Budget> = {
  free: { usd: 0.01, per: 'month' },
  pro: { usd: 20, per: 'month' },
}

/** Whom the application's cookie belongs to. Gateway and platform both ask it; the first request of a customer makes the user. */
export const identity: Identity = {
  async authenticate(head) {
    const token = parseCookies(head.header('cookie')).get('shop_session')
    const customer = token === undefined ? undefined : await customerOf(token)
    if (!customer) return null
    const { id, email, plan } = customer
    // No `email`: the shop has not verified it, and what others share is for whoever has the e-mail.
    return { userId: id, via: 'cookie', profile: { username: email, provider: 'shop', budget: budgets[plan] } }
  },
}

const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseURL = 'https://api.openai.com/v1' } = process.env
// Without an API key, a simulated upstream answers, in this process.
const provider = apiKey
  ? openai({ apiKey, baseURL })
  : openai({ apiKey: 'simulated', transport: fakeOpenAI({ delayMs: 50, remember: 0 }).transport })
export const kv = await postgresKV(pool)
export const gateway = createGateway({
  router: createRouter({ providers: [provider] }),
  kv,
  holds: true,
  simulated: !apiKey,
})
export const platform = createPlatform({ kv, gateway, identity })

import type { Budget } from '@turnpike/core'
import { getUser, memoryKV } from '@turnpike/core'
import { userIdOf } from '@turnpike/core/internal'
import { expect, it } from 'vitest'
import { passwordAuth } from '../identity/password-auth.js'
import { scryptHasher } from '../identity/passwords.js'
import { createPlatform } from '../platform.js'

it.each<[budget: Budget | undefined]>([[undefined], [{ usd: 1 }], [{ usd: 0.5, per: 'month' }]])(
  'threat 207: whoever signs up has the budget of the operator: %o',
  async (signUpBudget) => {
    const kv = await memoryKV()
    const texts: string[] = []
    const platform = createPlatform({
      kv,
      identity: passwordAuth({ kv, hasher: scryptHasher({ ln: 4, r: 8, p: 1 }) }),
      baseUrl: 'https://ai.example',
      mail: { send: async ({ text }) => void texts.push(text) },
      signUp: 'open',
      ...(signUpBudget && { signUpBudget }),
    })
    const send = async (method: string, path: string, body: object): Promise<number> => {
      const headers = {
        'content-type': 'application/json',
        origin: 'https://ai.example',
        'sec-fetch-site': 'same-origin',
      }
      const init = { method, headers, body: JSON.stringify(body) }
      return (await platform.fetch(new Request(`https://ai.example/api/auth/${path}`, init))).status
    }
    await send('POST', 'sign-up', { email: 'eve@example.org' })
    await expect.poll(() => texts.length).toBe(1)
    const token = /token=([\w-]+)/.exec(texts[0]!)![1]
    expect(await send('PUT', 'link', { token, password: 'correct horse battery' })).toBeLessThan(300)
    expect((await getUser(kv, (await userIdOf(kv, 'eve@example.org'))!))?.budget).toEqual(signUpBudget)
  },
)

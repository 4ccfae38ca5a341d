import { memoryKV } from '@turnpike/core'
import { uuidv7 } from '@turnpike/core/helpers'
import { base64url } from 'jose'
import { describe, expect, it } from 'vitest'
import { fromBase64url } from './base64url.js'
import { refreshTokens } from './refresh-tokens.js'
import { masterSecrets } from './secrets.js'

const of = async (...secrets: string[]) => {
  const kv = await memoryKV()
  return refreshTokens(() => masterSecrets(kv, secrets))
}

describe('a refresh token', () => {
  const token = { signInId: uuidv7(), counter: 4_000_000_000 }

  it('says which sign-in and which refresh it is of, and is the same wherever it is made', async () => {
    const [one, other] = [await of('x'.repeat(32)), await of('x'.repeat(32))]
    const text = await one.make(token)
    expect(text).toMatch(/^[\w-]{50}$/)
    expect(await other.make(token)).toBe(text)
    expect(await other.read(text)).toEqual(token)
    expect(await one.make({ ...token, counter: 0 })).not.toBe(text)
  })

  it('is not read where any byte of it differs, or the secret', async () => {
    const tokens = await of('x'.repeat(32))
    const text = await tokens.make(token)
    const bytes = fromBase64url(text)!
    for (let at = 0; at < bytes.length; at++) {
      const forged = bytes.slice()
      forged[at]! ^= 1
      expect([at, await tokens.read(base64url.encode(forged))]).toEqual([at, null])
    }
    for (const wrong of ['', 'x', text.slice(1), `${text}A`, `${text}=`, text.replace(/.$/, '*'), ' '.repeat(50)])
      expect(await tokens.read(wrong)).toBeNull()
    expect(await (await of('y'.repeat(32))).read(text)).toBeNull()
    const after = await of('y'.repeat(32), 'x'.repeat(32))
    expect(await after.read(text)).toEqual(token)
    expect(await after.make(token)).toBe(await (await of('y'.repeat(32))).make(token))
  })
})

import { listAudit, memoryKV } from '@turnpike/core'
import type { Exchange } from '@turnpike/http'
import { expect, it } from 'vitest'
import { limitGuesses } from './limit-guesses.js'

it('refuses an address that guesses for the rest of the minute, and logs it once a minute', async () => {
  const clock = { now: Date.UTC(2026, 0, 2) }
  const now = (): number => clock.now
  const kv = await memoryKV({ now })
  const known = { admin: 'token' }
  const from = (ip: string, token?: string) =>
    ({
      ip: () => ip,
      header: (name: string) => (name === 'authorization' && token ? `Bearer ${token}` : undefined),
    }) as Exchange
  const authenticate = limitGuesses(
    (exchange) => (exchange.header('authorization') === 'Bearer right' ? known : null),
    {
      kv,
      now,
    },
  )
  const tries = async (ip: string, token?: string): Promise<unknown> => {
    try {
      return await authenticate(from(ip, token))
    } catch (error) {
      return (error as { status: number }).status
    }
  }

  for (let i = 0; i < 40; i++) expect(await tries('192.0.2.1')).toBeNull()
  for (let minute = 0; minute < 2; minute++) {
    for (let i = 0; i < 30; i++) expect(await tries('2001:db8::1', `guess-${i}`)).toBeNull()
    expect(await tries('2001:db8::2', 'right')).toBe(known)
    expect(await tries('2001:db8::1', 'guess')).toBe(429)
    for (const token of ['right', 'guess']) expect(await tries('2001:db8::2', token)).toBe(429)
    expect(await tries('2001:db8::1')).toBeNull()
    expect(await tries('192.0.2.1', 'right')).toBe(known)
    clock.now += 60_000
  }
  const entry = { actor: 'unknown', action: 'admin-token.fail', target: 'admin-token', detail: '2001:db8:0:0::/64' }
  expect((await listAudit(kv)).items).toMatchObject([entry, entry])
  for (let i = 0; i < 20; i++) await tries(`192.0.2.${i}`, 'guess')
  expect((await listAudit(kv)).items).toHaveLength(12)
})

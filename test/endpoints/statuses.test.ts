import type { KV } from '@turnpike/core'
import { memoryKV, StorageError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { uuidv7Pattern } from '../support/patterns.js'
import { testGateway } from '../support/gateway.js'
import type { Row } from './row.js'
import { rows } from './causes.js'
import type { Endpoint } from './endpoints.js'
import { endpoints, paths, requestOf } from './endpoints.js'

/** A gateway in the state that a row describes, with counts of the upstream calls and usage records since then. */
async function setUp({ before, options, upstream }: Row) {
  const kv = await memoryKV()
  const broken = { is: false }
  const breaking: KV = {
    ...kv,
    commit: (change) => (broken.is ? Promise.reject(new StorageError('Disk full', 'none')) : kv.commit(change)),
  }
  const at = await testGateway({ kv: breaking, ...(upstream && { upstream }), ...options })
  broken.is = before === 'a lost record'
  if (before === 'a revocation') await at.gateway.keys.revoke(at.keyId)
  else if (before) await at.send('POST', paths.chat, requestOf('chat'))
  const asked = at.upstream.requests.length
  const recorded = (await at.records()).length
  return {
    send: at.send,
    calls: () => at.upstream.requests.length - asked,
    records: async () => (await at.records()).length - recorded,
  }
}

const table = rows.flatMap((row) => row.at.map((endpoint): [Endpoint, string, Row] => [endpoint, row.cause, row]))

describe.each(endpoints)('%s', (name) => {
  const own = table.filter(([endpoint]) => endpoint === name)

  it.each(own)('(%s) %s', async (endpoint, _, row) => {
    const { method = 'POST', request = requestOf, init, expected, headers = {}, calls = 0 } = row
    const at = await setUp(row)
    const response = await at.send(method, paths[endpoint], method === 'POST' ? request(endpoint) : undefined, init)
    expect(response.headers.get('x-request-id')).toMatch(uuidv7Pattern)
    const [status, type, code] = expected
    if (status === 200) {
      expect(response.status).toBe(200)
      await response.arrayBuffer()
    } else {
      const body = (await response.json()) as { error: { message: unknown } }
      expect([response.status, body]).toEqual([
        status,
        { error: { type, message: expect.any(String) as unknown, code } },
      ])
      expect(body.error.message).not.toBe('')
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    }
    const named = ['retry-after', 'x-should-retry', 'allow']
    expect(
      Object.fromEntries(named.flatMap((one) => (response.headers.has(one) ? [[one, response.headers.get(one)]] : []))),
    ).toEqual(headers)
    expect(at.calls()).toBe(calls)
    expect(await at.records()).toBe(row.records ?? (status === 200 ? 1 : 0))
  })
})

import { describe, expect, it, vi } from 'vitest'
import { ApiError, StorageError, UpstreamError } from './errors.js'

const api = new ApiError(429, 'rate_limit_error', 'Slow down', { code: 'rate_limit_exceeded', retryAfter: 3 })
const upstream = new UpstreamError('Bad', { provider: 'openai', kind: 'status', accepted: false, cause: api })
const storage = new StorageError('Full', 'none', { cause: upstream })

describe('errors', () => {
  it('have the given fields', () => {
    expect(api).toMatchObject({ name: 'ApiError', status: 429, type: 'rate_limit_error', message: 'Slow down' })
    expect(api).toMatchObject({ code: 'rate_limit_exceeded', retryAfter: 3, headers: {} })
    expect(api.shouldRetry).toBeUndefined()
    expect(upstream).toMatchObject({ name: 'UpstreamError', message: 'Bad', cause: api })
    expect(upstream.failure).toMatchObject({ provider: 'openai', kind: 'status', accepted: false })
    expect(storage).toMatchObject({ name: 'StorageError', message: 'Full', outcome: 'none', cause: upstream })
    for (const error of [api, upstream, storage]) expect(error).toBeInstanceOf(Error)
  })

  it('for callers have messages of a limited length', () => {
    const long = new ApiError(400, 'invalid_request_error', `No tool call "${'x'.repeat(5_000_000)}"`, {
      code: 'invalid_body',
    })
    expect(long.message).toHaveLength(1_001)
    expect(long.message).toMatch(/^No tool call "x+…$/)
  })

  it('have distinct types', () => {
    const all = [api, upstream, storage, new Error('x'), null, undefined, 'ApiError', { name: 'ApiError' }, 1]
    expect(all.map(ApiError.is)).toEqual(all.map((value) => value === api))
    expect(all.map(UpstreamError.is)).toEqual(all.map((value) => value === upstream))
    expect(all.map(StorageError.is)).toEqual(all.map((value) => value === storage))
  })

  it('are recognised across copies of the package', async () => {
    vi.resetModules()
    const copy = await import('./errors.js')
    expect(copy.ApiError).not.toBe(ApiError)
    expect(api).not.toBeInstanceOf(copy.ApiError)
    expect(copy.ApiError.is(api)).toBe(true)
    expect(copy.UpstreamError.is(upstream)).toBe(true)
    expect(copy.StorageError.is(storage)).toBe(true)
    expect(copy.UpstreamError.is(api)).toBe(false)
  })
})

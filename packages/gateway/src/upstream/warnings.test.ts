import { describe, expect, it } from 'vitest'
import { warnings } from './warnings.js'

describe('warnings', () => {
  it('lists fields by what became of them', () => {
    expect(
      warnings([
        { field: 'seed', action: 'dropped' },
        { field: 'temperature', action: 'clamped' },
        { field: 'messages.name', action: 'dropped' },
      ]),
    ).toBe('dropped=seed,messages.name; clamped=temperature')
  })

  it('is a valid header for any field names and any number of fields', () => {
    expect(warnings([{ field: 'a\r\nb, ü\ud800', action: 'dropped' }])).toBe('dropped=a__b____')
    expect(warnings([{ field: 'x'.repeat(10_000), action: 'dropped' }])).toBe(`dropped=${'x'.repeat(60)}`)
    const many = Array.from({ length: 10_000 }, (_, n) => ({ field: `f${n}`, action: 'dropped' as const }))
    expect(warnings(many)).toMatch(/^dropped=f0,f1,.*,f29,\+9970$/)
  })
})

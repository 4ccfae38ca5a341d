import { describe, expect, it } from 'vitest'
import { ago, bytes, count, csv, dayAndTime, duration, matches, percent, time, usd } from './format.js'

describe('figures', () => {
  it('of counts', () => {
    expect([0, 999, 12_345, 100_000, 1_234_567].map(count)).toEqual(['0', '999', '12,345', '100K', '1.2M'])
  })
  it('of money never show 0 for what is not', () => {
    expect([0, -0.5, 0.000000055, 0.000165, 0.4, 1, 1234.5, 12_345_678].map(usd)).toEqual([
      '$0',
      '-$0.50',
      '$0.000000055',
      '$0.000165',
      '$0.40',
      '$1.00',
      '$1,234.50',
      '$12,345,678.00',
    ])
  })
  it('of shares, times and sizes', () => {
    expect([0, 0.037, 1].map(percent)).toEqual(['0 %', '3.7 %', '100 %'])
    expect([null, 0.4, 850, 5793, 59_000, 600_000].map(duration)).toEqual([
      '–',
      '0 ms',
      '850 ms',
      '5.8 s',
      '59 s',
      '10 min',
    ])
    expect([0, 999, 1000, 1_234_567, 999_999, 5e12].map(bytes)).toEqual([
      '0 B',
      '999 B',
      '1.0 kB',
      '1.2 MB',
      '1.0 MB',
      '5.0 TB',
    ])
  })
  it('of days', () => {
    const now = new Date(2026, 10, 25, 15, 0)
    expect(time(new Date(2026, 10, 25, 14, 3, 27).toISOString(), now)).toBe('14:03:27')
    expect(time(new Date(2026, 10, 24, 14, 3).toISOString(), now)).toBe('24 Nov, 14:03')
    expect(time(new Date(2025, 10, 24, 14, 3).toISOString(), now)).toBe('24 Nov 2025, 14:03')
    expect(dayAndTime(new Date(2026, 10, 25, 14, 3).toISOString())).toBe('25 Nov, 14:03')
  })
})

it('CSV quotes what has to be, and has no formulas', () => {
  expect(
    csv([
      ['a', 'b,"c"\nd', null],
      ['=1+1', -1, '@x', '\n=1', '＝1'],
      ['a;=1', 'a\t@b', 'a; b'],
    ]),
  ).toBe('a,"b,""c""\nd",\r\n\'=1+1,-1,\'@x,"\'\n=1",\'＝1\r\na;\'=1,a\t\'@b,a; b\r\n')
})

it('texts match in upper and lower case', () => {
  expect(['ADA', 'love', '', 'grace'].map((wanted) => matches(wanted, ['Ada Lovelace', null, undefined]))).toEqual([
    true,
    true,
    true,
    false,
  ])
})

it('times from now are said as people say them', () => {
  const now = Date.UTC(2026, 10, 27, 12)
  const said = (minutes: number) => ago(new Date(now + minutes * 60_000).toISOString(), now)
  expect([-0.5, 0.5, -1, -59.9, -60, -23.9 * 60, -24 * 60, -3 * 24 * 60].map(said)).toEqual([
    'just now',
    'just now',
    '1 min ago',
    '59 min ago',
    '1 hr ago',
    '23 hr ago',
    'yesterday',
    '3 days ago',
  ])
  expect([5, 120, 24 * 60].map(said)).toEqual(['in 5 min', 'in 2 hr', 'tomorrow'])
  expect([said(-8 * 24 * 60), said(-400 * 24 * 60)]).toEqual(['19 Nov', '23 Oct 2025'])
})

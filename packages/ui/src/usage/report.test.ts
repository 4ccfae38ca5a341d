import { expect, it } from 'vitest'
import { usageTimes } from './periods.js'
import type { UsageReport, UsageSums } from './report.js'
import { change, restOf, seriesOf } from './report.js'
import { exportName, usageCsv, usageJson } from './exported.js'

const now = new Date(2026, 10, 18, 15, 20).getTime()
const sums = (cost_usd: number, requests = 1): UsageSums => ({
  requests,
  unpriced: 0,
  prompt_tokens: 10 * requests,
  completion_tokens: requests,
  cost_usd,
})
const hours = (cost_usd: number[], requests = cost_usd.map(() => 1)) => ({ cost_usd, requests, tokens: requests })

const times = usageTimes('168', now)
const report: UsageReport = {
  times,
  total: sums(10, 6),
  before: sums(5),
  starts: [times.from, times.from + 3_600_000, now],
  hours: hours([1, 2.1, 6.9], [2, 2, 2]),
  rows: [
    { id: 'a', name: null, ...sums(6, 2), hours: hours([0, 0, 6], [0, 0, 2]) },
    { id: 'b', name: '=B', ...sums(3, 3), hours: hours([1, 2, 0], [2, 1, 0]) },
    { id: 'c', name: 'C', ...sums(0.5, 0) },
  ],
  earlier: new Map([['a', 3]]),
}

it.each([
  [12, 10, '+20 %'],
  [5, 10, '−50 %'],
  [10.01, 10, 'as before'],
  [0, 10, '−100 %'],
  [0.001, 10, '−99 %'],
  [300, 10, '30 times'],
  [1, 0, 'new'],
  [0, 0, undefined],
])('calls %d after %d %s', (to, from, expected) => expect(change(to, from)).toBe(expected))

it('stacks the greatest first, and last what is in no part', () => {
  const { starts, series } = seriesOf(report, 'cost', 'day', 'Others')
  expect(starts).toHaveLength(7)
  expect(series.map(({ name, values }) => [name, values[0], values[6]])).toEqual([
    ['a', 0, 6],
    ['=B', 3, 0],
    ['Others', expect.closeTo(0.1, 9), expect.closeTo(0.9, 9)],
  ])
  expect(seriesOf(report, 'requests', 'day', 'Others').series.map(({ name, total }) => [name, total])).toEqual([
    ['=B', 3],
    ['a', 2],
    ['Others', 1],
  ])
})

it('tells what is in no row', () => {
  expect(restOf(report)).toMatchObject({ requests: 1, cost_usd: 0.5, prompt_tokens: 10 })
  expect(restOf({ total: sums(9, 5), rows: report.rows })).toBeUndefined()
})

it('exports what is shown, and no formulas', () => {
  const exported = { by: 'model', times, rows: report.rows, earlier: report.earlier }
  expect(usageCsv(exported).split('\r\n')).toEqual([
    'id,name,owner_id,requests,without_price,prompt_tokens,completion_tokens,cost_usd,cost_usd_before',
    'a,,,2,0,20,2,6,3',
    "b,'=B,,3,0,30,3,3,0",
    'c,C,,0,0,0,0,0.5,0',
    '',
  ])
  const json = JSON.parse(usageJson(exported)) as { from: string; rows: object[] }
  expect(json.from).toBe(new Date(times.from).toISOString())
  expect(json.rows[1]).toMatchObject({ id: 'b', name: '=B', cost_usd: 3 })
  expect(exportName(exported, true)).toBe('usage-by-model-2026-11-18-incomplete')
  expect(usageCsv({ by: 'project', times: null, rows: report.rows.slice(0, 1) })).toContain('a,,,2,0,20,2,6,\r\n')
})

import { expect, it } from 'vitest'
import { budgetRenewal, hoursIn, stepsOf, sumBySteps, usagePeriodOf, usageTimes } from './periods.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const now = new Date(2026, 10, 18, 15, 20).getTime()

it('begins with the first of the days, and compares with the same days of the week', () => {
  const { from, to, before } = usageTimes('168', now)
  expect(from).toBe(Math.floor(new Date(2026, 10, 12).getTime() / HOUR) * HOUR)
  expect(to).toBe(now)
  expect(before).toEqual({ from: from - 7 * DAY, to: now - 7 * DAY })
})

it('has the current hour and the 23 before it', () => {
  const times = usageTimes('24', now)
  expect([hoursIn(times), hoursIn(times.before)]).toEqual([24, 24])
  expect(stepsOf(times, 'hour')).toHaveLength(24)
  expect(times.before.from).toBe(times.from - DAY)
})

it('takes the period of the address, or a week', () => {
  expect([usagePeriodOf('720'), usagePeriodOf('1'), usagePeriodOf(null)]).toEqual(['720', '168', '168'])
})

it('sums up hours by days, also those that a clock with half hours has in two', () => {
  const times = usageTimes('168', now)
  const starts = stepsOf(times, 'day')
  expect(starts).toHaveLength(7)
  const hours = [starts[0]! - HOUR / 2, starts[0]! + HOUR, starts[1]! - HOUR, starts[1]!, now]
  expect(sumBySteps(starts, hours, [1, 2, 4, 8, 16])).toEqual([7, 8, 0, 0, 0, 0, 16])
})

it('tells when a budget begins anew, in UTC', () => {
  const at = Date.parse('2026-12-31T23:59:00Z')
  expect([budgetRenewal('day', at), budgetRenewal('month', at)]).toEqual([Date.UTC(2027, 0, 1), Date.UTC(2027, 0, 1)])
  expect(budgetRenewal('month', Date.parse('2026-11-02T00:00:00Z'))).toBe(Date.UTC(2026, 11, 1))
})

import { expect, it } from 'vitest'
import { sameDecimals, stepText, tickText, ticksOf } from './ticks.js'

const midnight = new Date(2026, 5, 1)
const days = (count: number) => Array.from({ length: count }, (_, i) => new Date(2026, 5, 1 + i).getTime())
const hours = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => new Date(2026, 5, 1, from + i).getTime())

it('labels every day, or as many as there is room for', () => {
  expect(ticksOf(days(7), 10)).toEqual([0, 1, 2, 3, 4, 5, 6])
  expect(ticksOf(days(30), 10)).toEqual([0, 4, 8, 12, 16, 20, 24, 28])
})

it('labels hours that divide the day, and midnights of many', () => {
  expect(ticksOf(hours(24, 5), 8)).toEqual([1, 4, 7, 10, 13, 16, 19, 22])
  expect(ticksOf(hours(7 * 24, 12), 8)).toEqual([12, 36, 60, 84, 108, 132, 156])
  expect(ticksOf(hours(1), 8)).toEqual([0])
})

it('writes a midnight as the day', () => {
  expect([tickText(midnight.getTime()), tickText(hours(1, 14)[0]!)]).toEqual(['1 Jun', '14:00'])
  expect(stepText(hours(1, 14)[0]!, false)).toBe('Mon 1 Jun, 14:00')
  expect(stepText(midnight.getTime(), true)).toBe('Mon 1 Jun')
})

it('writes the figures of an axis with the same decimals', () => {
  expect(sameDecimals(['$0', '$0.005', '$0.01', '$0.015'])).toEqual(['$0', '$0.005', '$0.010', '$0.015'])
  expect(sameDecimals(['1.5K', '2K'])).toEqual(['1.5K', '2K'])
})

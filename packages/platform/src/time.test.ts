import * as v from 'valibot'
import { expect, it } from 'vitest'
import { dateOf, periodOf, Time } from './time.js'

it.each([
  ['2030-01-31', '2030-01-31T00:00:00.000Z'],
  ['2030-01-31T08:15', '2030-01-31T08:15:00.000Z'],
  ['2030-01-31T08:15:30', '2030-01-31T08:15:30.000Z'],
  ['2030-01-31 08:15:30.5Z', '2030-01-31T08:15:30.500Z'],
  ['2030-01-31t08:15:30.123456z', '2030-01-31T08:15:30.123Z'],
  ['2030-01-31T08:15:30+02:00', '2030-01-31T06:15:30.000Z'],
  ['2030-01-31T08:15:30 02:00', '2030-01-31T06:15:30.000Z'],
  ['2030-01-31T08:15:30-0130', '2030-01-31T09:45:30.000Z'],
  ['2030-01-31T08:15:30+14', '2030-01-30T18:15:30.000Z'],
  ['2028-02-29T23:59:59Z', '2028-02-29T23:59:59.000Z'],
])('reads %s as %s', (text, time) => {
  expect(v.is(Time, text)).toBe(true)
  expect(dateOf(text).toISOString()).toBe(time)
})

it.each([
  '',
  'tomorrow',
  '2030',
  '2030-01',
  '2030-1-31',
  '2030-02-30',
  '2030-02-30T00:00:00Z',
  '2029-02-29',
  '2030-13-01',
  '2030-01-31T24:00:00Z',
  '2030-01-31T08:60Z',
  '2030-01-31T08:15:61Z',
  '2030-01-31T08:15:30+25:00',
  '2030-01-31Z',
  '2030-01-31T08:15:30Z ',
  'Thu, 31 Jan 2030 08:00:00 GMT',
  '1893456000000',
])('refuses %j', (text) => expect(v.is(Time, text)).toBe(false))

it('refuses a period that ends before it begins', () => {
  const day = '2030-01-31'
  expect(periodOf({ from: day, to: day }).from).toEqual(new Date(day))
  expect(periodOf({})).toEqual({})
  expect(() => periodOf({ from: '2030-02-01', to: day })).toThrow('from must be a time that is not after `to`')
})

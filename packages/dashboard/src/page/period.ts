import { route } from '@turnpike/ui'

/** The periods that figures are shown for, in hours. */
export const periods = [
  ['1', '1 hour'],
  ['24', '24 hours'],
  ['168', '7 days'],
  ['720', '30 days'],
] as const
export type Hours = (typeof periods)[number][0]

/** The period in the page's address. */
export const hoursOf = (standard: Hours): Hours => {
  const given = route.value.query.get('hours')
  return periods.find(([hours]) => hours === given)?.[0] ?? standard
}

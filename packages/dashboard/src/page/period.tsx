import { route, Segmented, setQuery } from '@turnpike/ui'

/** The periods that figures are shown for, in hours. */
const periods = [
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

/** Chooses the period in the page's address. */
export const PeriodChoice = ({ value }: { value: Hours }) => (
  <Segmented label="Period" options={periods} value={value} onChange={(hours) => setQuery({ hours })} />
)

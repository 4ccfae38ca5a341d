import { Segmented } from '../components/controls.js'
import { setQuery } from '../route.js'
import type { UsagePeriod } from './periods.js'
import { usagePeriods } from './periods.js'

/** Chooses the period in the page's address. */
export const UsagePeriodChoice = ({ value }: { value: UsagePeriod }) => (
  <Segmented label="Period" options={usagePeriods} value={value} onChange={(hours) => setQuery({ hours })} />
)

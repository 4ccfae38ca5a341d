import { Dialog, Loaded, setQuery, useData } from '@turnpike/ui'
import type { UsagePeriod } from '@turnpike/ui/usage'
import { UsageChart, UsageFigures, UsagePeriodChoice, usageTimes } from '@turnpike/ui/usage'
import { useMemo } from 'preact/hooks'
import type { HourlyKind } from './usage-read.js'
import { readHours, reportOf } from './usage-read.js'

/** The usage of one user, key, model or provider. */
export function UsageOfOne({ by, id, period }: { by: HourlyKind; id: string; period: UsagePeriod }) {
  const times = useMemo(() => usageTimes(period, Date.now()), [period])
  const data = useData(
    (signal) => Promise.all([readHours(by, id, times, signal), readHours(by, id, times.before, signal)]),
    [by, id, times],
  )
  return (
    <Dialog title={data.value?.[0].name ?? id} form="drawer wide" onClose={() => setQuery({ id: undefined })}>
      <UsagePeriodChoice value={period} />
      <Loaded data={data}>
        {([now, then]) => (
          <>
            <UsageFigures period={period} total={now.total} before={then.total} />
            <UsageChart report={reportOf(times, now, then, [])} rest={now.name ?? id} />
          </>
        )}
      </Loaded>
    </Dialog>
  )
}

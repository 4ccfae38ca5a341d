import { goTo, Loaded, Page, route, Segmented, useData } from '@turnpike/ui'
import type { UsagePeriod } from '@turnpike/ui/usage'
import { UsageChart, UsageFigures, UsagePeriodChoice, usagePeriodOf, usageTimes } from '@turnpike/ui/usage'
import { useMemo } from 'preact/hooks'
import { account } from '../turnpike.js'
import { Balance } from './balance.js'
import { readInProjects, readReport } from './read.js'
import type { Kind } from './rows.js'
import { kinds, Rows } from './rows.js'
import { Sessions } from './sessions.js'

/** What the user has used in a period, by its parts. */
function Report({ by, period }: { by: Kind; period: UsagePeriod }) {
  const times = useMemo(() => usageTimes(period, Date.now()), [by, period])
  const data = useData((signal) => readReport(by, times, signal), [by, times])
  const inProjects = useData(
    async (signal) => (by === 'project' ? readInProjects(times, signal) : undefined),
    [by, times],
  )
  return (
    <Loaded data={data}>
      {(report) => (
        <>
          <UsageFigures period={period} total={report.total} before={report.before} />
          <UsageChart report={report} title={`by ${by}`} rest={report.rows.length > 8 ? 'Others' : kinds[by].rest} />
          <Rows by={by} report={report} inProjects={inProjects} />
        </>
      )}
    </Loaded>
  )
}

/** What the user has used, and what is left. */
export function Usage() {
  const { query } = route.value
  const isDeveloper = account.value!.role !== 'user'
  const choices = Object.entries(kinds)
    .filter(([kind]) => isDeveloper || kind !== 'key')
    .map(([kind, { name }]) => [kind as Kind, name] as const)
  const by = choices.find(([kind]) => kind === query.get('by'))?.[0] ?? 'model'
  const period = usagePeriodOf(query.get('hours'))
  return (
    <Page
      title="Usage"
      actions={
        <>
          <Segmented
            label="By"
            options={choices}
            value={by}
            onChange={(by) => goTo('/usage', { ...Object.fromEntries(query), by }, true)}
          />
          <UsagePeriodChoice value={period} />
        </>
      }
    >
      <Report by={by} period={period} />
      {by === 'session' && <Sessions />}
      <Balance />
    </Page>
  )
}

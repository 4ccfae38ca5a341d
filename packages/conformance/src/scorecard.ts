import { suites } from './case.js'
import type { FamilyName } from './families/family.js'
import { familyNames } from './families/family.js'
import type { ItemResult } from './platform.js'
import type { Report, Result } from './run.js'

const count = (results: Result[]): string =>
  results.length === 0 ? '–' : `${results.filter(({ passed }) => passed).length}/${results.length}`

/** A Markdown table; the first row is its head. */
function table(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((cells) => cells[column]!.length), 3))
  const lines = rows.map((cells) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`)
  lines.splice(1, 0, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`)
  return lines.join('\n')
}

/**
 * A report as text: a Markdown table of the passed cases by suite and family, and a line for each failure.
 * @example console.log(scorecard(await runConformance(options)))
 */
export function scorecard({ results }: Report): string {
  const families = familyNames.filter((family) => results.some((result) => result.family === family))
  const ran = suites.filter((suite) => results.some((result) => result.suite === suite))
  const of = (suite: string | undefined, family: FamilyName | undefined): string =>
    count(results.filter((it) => (!suite || it.suite === suite) && (!family || it.family === family)))
  const row = (title: string, suite?: string): string[] => [
    title,
    ...families.map((family) => of(suite, family)),
    of(suite, undefined),
  ]
  const rows = [['', ...families, 'all'], ...ran.map((suite) => row(suite, suite)), row('all')]
  const failures = results
    .filter(({ passed }) => !passed)
    .map(({ suite, family, name, reason, source }) => `- ${suite}, ${family}: ${name}: ${reason} (${source})`)
  return [table(rows), ...(failures.length > 0 ? ['', ...failures] : [])].join('\n')
}

const outcomes = ['passed', 'failed', 'not tried'] as const

/**
 * The results of the checklist as text: a Markdown table of the items by part of the platform, and a line for each that failed or was not tried.
 * @example console.log(checklistScorecard(await runChecklist(target)))
 */
export function checklistScorecard(results: ItemResult[]): string {
  const row = (title: string, of: ItemResult[]): string[] => [
    title,
    ...outcomes.map((outcome) => String(of.filter((item) => item.outcome === outcome).length)),
  ]
  const parts = [...new Set(results.map(({ suite }) => suite))].map((suite) =>
    row(
      suite,
      results.filter((item) => item.suite === suite),
    ),
  )
  const lines = outcomes.slice(1).flatMap((outcome) => {
    const items = results.filter((item) => item.outcome === outcome)
    const told = items.map(
      ({ number, title, reason }) => `- #${number} ${title}: ${outcome}: ${reason?.split('\n', 1)[0]}`,
    )
    return items.length > 0 ? ['', ...told] : []
  })
  return [table([['', ...outcomes], ...parts, row('all', results)]), ...lines].join('\n')
}

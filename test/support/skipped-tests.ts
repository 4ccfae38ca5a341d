import type { Reporter, TestCase, TestModule } from 'vitest/node'
import { installCommands, programs } from './needs.js'

/** Why a test has skipped itself, in one line. */
function noteOf(test: TestCase): string | undefined {
  const result = test.result()
  return result.state === 'skipped' ? result.note?.split('\n')[0] : undefined
}

/** Tells at the end of a run what was skipped, and what this machine needs to run it: one line for each {@link Need}. */
export default class SkippedTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = new Map<string, number>()
    for (const module of modules)
      for (const test of module.children.allTests('skipped')) {
        const need = test.meta().needs ?? noteOf(test) ?? 'another runtime or system'
        skipped.set(need, (skipped.get(need) ?? 0) + 1)
      }
    if (skipped.size === 0) return
    const rows = [...skipped]
      .toSorted(([, a], [, b]) => b - a)
      .map(([need, count]) => `${String(count).padStart(7)}  ${need}`)
    console.log(`Skipped tests, and what they need:\n${rows.join('\n')}`)
    if (!Object.values(programs).some(({ name }) => skipped.has(name))) return
    for (const [system, command] of Object.entries(installCommands))
      console.log(`All programs, on ${system}: ${command}`)
  }
}

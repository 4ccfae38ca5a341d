import type { ItemResult, PlatformTarget } from '../src/platform.js'
import type { Suite, Test } from './vitest.js'
import { NotTried, root } from './vitest.js'
import { useTarget } from './world.js'

const itemOf = (name: string): { number: number; title: string } | undefined => {
  const [, number, title] = /^#(\d+) ([^]*)/.exec(name) ?? []
  return number === undefined ? undefined : { number: Number(number), title: title! }
}

/** Milliseconds that a test may take. */
const TEST_MS = 120_000

async function within(run: () => unknown): Promise<void> {
  let timer: ReturnType<typeof setTimeout>
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It took longer than ${TEST_MS / 1_000} seconds`)), TEST_MS)
  })
  await Promise.race([Promise.resolve().then(run), late]).finally(() => clearTimeout(timer))
}

const resultOf = (error: unknown): Pick<ItemResult, 'outcome' | 'reason'> =>
  error === undefined
    ? { outcome: 'passed' }
    : { outcome: error instanceof NotTried ? 'not tried' : 'failed', reason: (error as Error).message }

/** The error that a call throws; undefined where it throws none. */
const errorOf = (run: () => unknown): Promise<unknown> =>
  within(run).then(
    () => undefined,
    (error: unknown) => error,
  )

/** Runs the numbered tests of test/platform against a platform, one after another. @param onItem called with each result */
export async function runItems(target: PlatformTarget, onItem: (result: ItemResult) => void): Promise<void> {
  await useTarget(target)
  const runTest = async ({ name, run }: Test, suite: string, broken: unknown): Promise<void> => {
    const item = itemOf(name)
    if (item) onItem({ ...item, suite, ...resultOf(broken ?? (await errorOf(run))) })
  }
  /** @param broken why none of its tests can be run */
  const runSuite = async ({ name, before, after, parts }: Suite, parent: string, broken?: unknown): Promise<void> => {
    const suite = name || parent
    for (const run of before) broken ??= await errorOf(run)
    for (const part of parts) await ('parts' in part ? runSuite(part, suite, broken) : runTest(part, suite, broken))
    if (broken === undefined) for (const run of after) await errorOf(run)
  }
  await runSuite(root, '')
}

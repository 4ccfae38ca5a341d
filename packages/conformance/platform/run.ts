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

/** The first error of a suite's tests; undefined where they all pass. @param broken why none of them can be run */
async function errorOfSuite({ before, after, parts }: Suite, broken: unknown): Promise<unknown> {
  for (const run of before) broken ??= await errorOf(run)
  if (broken !== undefined) return broken
  let first: unknown
  for (const part of parts) first ??= await ('parts' in part ? errorOfSuite(part, undefined) : errorOf(part.run))
  for (const run of after) await errorOf(run)
  return first
}

/** Runs the numbered tests of test/platform against a platform, one after another. @param onItem called with each result */
export async function runItems(target: PlatformTarget, onItem: (result: ItemResult) => void): Promise<void> {
  await useTarget(target).catch((error: Error) => {
    throw new Error(`The administrator cannot sign in at ${target.url}: ${error.message}`)
  })
  /** @param broken why none of its tests can be run */
  const run = async (part: Suite | Test, suite: string, broken: unknown): Promise<void> => {
    const item = itemOf(part.name)
    if (item) {
      const error = 'parts' in part ? await errorOfSuite(part, broken) : (broken ?? (await errorOf(part.run)))
      onItem({ ...item, suite, ...resultOf(error) })
    } else if ('parts' in part) {
      for (const before of part.before) broken ??= await errorOf(before)
      for (const one of part.parts) await run(one, part.name || suite, broken)
      if (broken === undefined) for (const after of part.after) await errorOf(after)
    }
  }
  await run(root, '', undefined)
}

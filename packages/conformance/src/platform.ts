import { ConformanceError } from './run.js'

/** A platform, and an administrator of it, who makes the people of the tests. */
export interface PlatformTarget {
  /** Its base URL, without `/api`. */
  url: string
  email: string
  password: string
}

/** What became of an item of the checklist. */
export interface ItemResult {
  number: number
  /** What the platform is to do. */
  title: string
  /** The part of the platform, such as `tasks`. */
  suite: string
  outcome: 'passed' | 'failed' | 'not tried'
  /** Why it failed or was not tried. */
  reason?: string
}

type RunItems = (target: PlatformTarget, onItem: (result: ItemResult) => void) => Promise<void>

/**
 * Tries the numbered checklist of the platform on one that runs. It makes people, projects, tasks and files there, so the platform should be one for tests.
 * @param onItem called with each result
 * @throws ConformanceError if the administrator cannot sign in
 * @example const results = await runChecklist({ url: 'http://127.0.0.1:8787', email: 'admin@localhost', password })
 */
export async function runChecklist(
  target: PlatformTarget,
  onItem: (result: ItemResult) => void = () => undefined,
): Promise<ItemResult[]> {
  // The numbered tests of this repository's test/platform, which tsup.config.ts bundles.
  const { runItems } = (await import(new URL('platform-items.js', import.meta.url).href)) as { runItems: RunItems }
  const results: ItemResult[] = []
  const onResult = (result: ItemResult): void => {
    results.push(result)
    onItem(result)
  }
  await runItems(target, onResult).catch((error: Error) => {
    throw new ConformanceError(error.message, { cause: error })
  })
  return results
}

/** How long names are remembered at least, in milliseconds. */
const REMEMBERED_MS = 5 * 60_000
/** How many are remembered at most, twice: a flood from ever new networks must not fill the memory. */
const NAMES = 20_000

/** Counts names over the last 5 to 10 minutes, in this process. */
export function recentCounts(now: () => number) {
  let [current, before] = [new Map<string, number>(), new Map<string, number>()]
  let since = now()

  const forget = (): void => {
    const age = now() - since
    if (age < REMEMBERED_MS && current.size < NAMES) return
    before = age < 2 * REMEMBERED_MS ? current : new Map<string, number>()
    current = new Map()
    since = now()
  }

  return {
    add(name: string): void {
      forget()
      current.set(name, (current.get(name) ?? 0) + 1)
    },
    of: (name: string): number => (current.get(name) ?? 0) + (before.get(name) ?? 0),
  }
}
